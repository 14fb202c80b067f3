BEGIN TRANSACTION;
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT,
                       content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
INSERT INTO "messages" VALUES(1,'20260101_1','user','[{"type": "text", "text": "Hi"}]',1700000000,'{"userVisible": true, "agentVisible": true}');
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, user_set_name BOOLEAN,
                       session_type TEXT, working_dir TEXT, created_at TIMESTAMP,
                       updated_at TIMESTAMP, extension_data TEXT);
INSERT INTO "sessions" VALUES('20260101_1','Bread',NULL,NULL,'user','/home/me/bread','2026-01-01 10:00:00',NULL,'{"todo.v0": {"content": "- [x] Knead\n- [ ] Bake\n"}}');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('messages',1);
COMMIT;
