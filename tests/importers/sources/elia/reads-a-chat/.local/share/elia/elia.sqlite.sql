BEGIN TRANSACTION;
CREATE TABLE chat (id INTEGER PRIMARY KEY, model VARCHAR, title VARCHAR, started_at DATETIME,
                   archived BOOLEAN);
INSERT INTO "chat" VALUES(1,'gpt-4','Sky','2026-11-22 22:12:40',NULL);
CREATE TABLE message (id INTEGER PRIMARY KEY, chat_id INTEGER, role VARCHAR, content VARCHAR,
                      timestamp DATETIME, meta JSON, parent_id INTEGER, model VARCHAR);
INSERT INTO "message" VALUES(1,1,'system','Be brief','2026-11-22 22:12:41.506536',NULL,NULL,NULL);
INSERT INTO "message" VALUES(2,1,'user','Why?','2026-11-22 22:12:41.506536',NULL,NULL,NULL);
INSERT INTO "message" VALUES(3,1,'assistant','So.','2026-11-22 22:12:41.506536',NULL,NULL,'gpt-4o');
COMMIT;
