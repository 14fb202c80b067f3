BEGIN TRANSACTION;
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT,
                       is_summary_message INTEGER, created_at INTEGER);
INSERT INTO "messages" VALUES('m1','s1','user','[{"type": "text", "data": {"text": "List"}}]',NULL,NULL,1700000000);
INSERT INTO "messages" VALUES('m2','s1','assistant','[{"type": "finish", "data": {"reason": "error", "message": "API Error", "details": "429"}}]','gpt-4',NULL,1700000001);
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT,
                       summary_message_id TEXT, todos TEXT, created_at INTEGER,
                       updated_at INTEGER);
INSERT INTO "sessions" VALUES('s1',NULL,'Bread',NULL,NULL,1700000000,1700000009);
COMMIT;
