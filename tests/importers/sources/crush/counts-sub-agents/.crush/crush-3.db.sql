BEGIN TRANSACTION;
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT,
                       is_summary_message INTEGER, created_at INTEGER);
INSERT INTO "messages" VALUES('m1','m$$c','user','[{"type": "text", "data": {"text": "Hi"}}]',NULL,NULL,1700000000);
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT,
                       summary_message_id TEXT, todos TEXT, created_at INTEGER,
                       updated_at INTEGER);
INSERT INTO "sessions" VALUES('m$$c',NULL,'Bread',NULL,NULL,1700000000,1700000009);
COMMIT;
