BEGIN TRANSACTION;
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
INSERT INTO "fragments" VALUES(1,'1 and 2');
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
INSERT INTO "messages" VALUES('s',NULL,'system');
INSERT INTO "messages" VALUES('a','s','user');
INSERT INTO "messages" VALUES('b','a','assistant');
INSERT INTO "messages" VALUES('c','b','tool');
INSERT INTO "messages" VALUES('d','c','assistant');
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT,
                    tool_name TEXT, text TEXT, payload TEXT);
INSERT INTO "parts" VALUES(1,'s',0,'text',NULL,'Be brief',NULL);
INSERT INTO "parts" VALUES(2,'a',0,'text',NULL,NULL,'{"text_ref": [{"fragment": 1}, {"literal": "\nAdd"}]}');
INSERT INTO "parts" VALUES(3,'b',0,'tool_call',NULL,NULL,'{"name": "add", "arguments": {"a": 1}, "tool_call_id": "x"}');
INSERT INTO "parts" VALUES(4,'c',0,'tool_result',NULL,NULL,'{"name": "add", "output": "3", "tool_call_id": "x"}');
INSERT INTO "parts" VALUES(5,'d',0,'text',NULL,'Three.',NULL);
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, datetime_utc TEXT);
INSERT INTO "threads" VALUES('th','Add','d','2026-11-22T22:05:29.402780+00:00');
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT,
                    tip_message_hash TEXT, model TEXT, resolved_model TEXT, input_tokens INTEGER,
                    output_tokens INTEGER, datetime_utc TEXT);
INSERT INTO "turns" VALUES('t-b','th','a','b','local',NULL,11,7,'2026-11-22T22:05:29.402780+00:00');
INSERT INTO "turns" VALUES('t-d','th','c','d','local',NULL,11,7,'2026-11-22T22:05:29.402780+00:00');
COMMIT;
