BEGIN TRANSACTION;
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
INSERT INTO "message" VALUES('m1','ses_1',1787054400000,'{"role": "user", "time": {"created": 1787054400001}}');
INSERT INTO "message" VALUES('m2','ses_1',1787054400000,'{"role": "assistant", "time": {"created": 1787054400002}}');
INSERT INTO "message" VALUES('m3','ses_1',1787054400000,'{"role": "user", "time": {"created": 1787054400003}}');
INSERT INTO "message" VALUES('m4','ses_1',1787054400000,'{"role": "assistant", "time": {"created": 1787054400004}}');
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, data TEXT);
INSERT INTO "part" VALUES('m1-000','m1','{"type": "text", "text": "1"}');
INSERT INTO "part" VALUES('m2-000','m2','{"type": "text", "text": "2"}');
INSERT INTO "part" VALUES('m3-000','m3','{"type": "text", "text": "3"}');
INSERT INTO "part" VALUES('m4-000','m4','{"type": "text", "text": "4"}');
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
                      version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
INSERT INTO "session" VALUES('ses_1',NULL,'/home/me/bread','Bread','1.2','{"messageID": "m3"}',1787054400000,1787054500000);
CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, position INTEGER);
COMMIT;
