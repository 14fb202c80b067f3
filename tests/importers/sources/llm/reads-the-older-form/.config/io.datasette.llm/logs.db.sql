BEGIN TRANSACTION;
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
INSERT INTO "attachments" VALUES('at','image/png','/home/me/a.png',NULL,NULL);
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
INSERT INTO "conversations" VALUES('c1','Sums','gpt-4');
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
INSERT INTO "fragments" VALUES(1,'1 and 2');
CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER);
INSERT INTO "prompt_attachments" VALUES('r1','at',0);
CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
INSERT INTO "prompt_fragments" VALUES('r1',1,0);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, resolved_model TEXT, prompt TEXT,
                        system TEXT, response TEXT, conversation_id TEXT, datetime_utc TEXT,
                        input_tokens INTEGER, output_tokens INTEGER);
INSERT INTO "responses" VALUES('r1','gpt-4',NULL,'Add','Be brief','','c1','2026-11-22T22:05:29.402780+00:00',NULL,NULL);
INSERT INTO "responses" VALUES('r2','gpt-4',NULL,'','Be brief','Three.','c1','2026-11-22T22:05:29.402780+00:00',NULL,NULL);
INSERT INTO "responses" VALUES('r3','gpt-4','gpt-4-0613','Hi','Be brief','Ho',NULL,'2026-11-22T22:05:29.402780+00:00',NULL,NULL);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT,
                         tool_call_id TEXT);
INSERT INTO "tool_calls" VALUES(1,'r1','add','{"a": 1}','x');
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT,
                           tool_call_id TEXT);
INSERT INTO "tool_results" VALUES(1,'r2','add','3','x');
COMMIT;
