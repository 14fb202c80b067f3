BEGIN TRANSACTION;
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
INSERT INTO "message" VALUES('m1','ses_1',1787054400000,'{"role": "user", "time": {"created": 1787054400001}}');
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, data TEXT);
INSERT INTO "part" VALUES('m1-000','m1','{"type": "text", "text": "Hi"}');
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
                      version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
INSERT INTO "session" VALUES('ses_1',NULL,'/home/me/bread','Bread','1.2','null',1787054400000,1787054500000);
CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, position INTEGER);
INSERT INTO "todo" VALUES('ses_1','Knead','completed',0);
INSERT INTO "todo" VALUES('ses_1','Bake','in_progress',1);
INSERT INTO "todo" VALUES('ses_1','Freeze','cancelled',2);
COMMIT;
