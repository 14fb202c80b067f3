BEGIN TRANSACTION;
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
INSERT INTO "message" VALUES('m1','ses_1',1787054400000,'{"role": "assistant", "time": {"created": 1787054400001}}');
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, data TEXT);
INSERT INTO "part" VALUES('m1-000','m1','{"type": "step-start"}');
INSERT INTO "part" VALUES('m1-001','m1','{"type": "reasoning", "text": "hm"}');
INSERT INTO "part" VALUES('m1-002','m1','{"type": "text", "text": "I look."}');
INSERT INTO "part" VALUES('m1-003','m1','{"type": "tool", "callID": "x", "tool": "read", "state": {"status": "completed", "input": {"path": "a"}, "output": "one"}}');
INSERT INTO "part" VALUES('m1-004','m1','{"type": "tool", "callID": "y", "tool": "read", "state": {"status": "error", "input": {"path": "a"}, "output": null, "error": "no file"}}');
INSERT INTO "part" VALUES('m1-005','m1','{"type": "text", "text": "Done."}');
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
                      version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
INSERT INTO "session" VALUES('ses_1',NULL,'/home/me/bread','Bread','1.2','null',1787054400000,1787054500000);
CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, position INTEGER);
COMMIT;
