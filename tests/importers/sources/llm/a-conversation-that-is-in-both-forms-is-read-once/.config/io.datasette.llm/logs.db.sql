BEGIN TRANSACTION;
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
INSERT INTO "messages" VALUES('a',NULL,'user');
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT,
                    tool_name TEXT, text TEXT, payload TEXT);
INSERT INTO "parts" VALUES(1,'a',0,'text',NULL,'Hi',NULL);
CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER);
CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, resolved_model TEXT, prompt TEXT,
                        system TEXT, response TEXT, conversation_id TEXT, datetime_utc TEXT,
                        input_tokens INTEGER, output_tokens INTEGER);
INSERT INTO "responses" VALUES('r1',NULL,NULL,'Hi',NULL,'Ho','th',NULL,NULL,NULL);
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, datetime_utc TEXT);
INSERT INTO "threads" VALUES('th',NULL,'a',NULL);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT,
                         tool_call_id TEXT);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT,
                           tool_call_id TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT,
                    tip_message_hash TEXT, model TEXT, resolved_model TEXT, input_tokens INTEGER,
                    output_tokens INTEGER, datetime_utc TEXT);
COMMIT;
