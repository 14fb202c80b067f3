BEGIN TRANSACTION;
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT,
                       is_summary_message INTEGER, created_at INTEGER);
INSERT INTO "messages" VALUES('m1','s1','user','[{"type": "text", "data": {"text": "List"}}, {"type": "binary", "data": {"Path": "/a/b.png", "MIMEType": "image/png"}}]',NULL,NULL,1700000000);
INSERT INTO "messages" VALUES('m2','s1','assistant','[{"type": "reasoning", "data": {"thinking": "hm"}}, {"type": "text", "data": {"text": "I look."}}, {"type": "tool_call", "data": {"id": "x", "name": "ls", "input": "{\"path\": \".\"}", "finished": true}}, {"type": "finish", "data": {"reason": "tool_use"}}]','gpt-4',NULL,1700000000);
INSERT INTO "messages" VALUES('m3','s1','tool','[{"type": "tool_result", "data": {"tool_call_id": "x", "name": "ls", "content": "a.txt"}}]',NULL,NULL,1700000000);
INSERT INTO "messages" VALUES('m4','s1','assistant','[{"type": "text", "data": {"text": "One"}}, {"type": "news", "data": {"text": "And all."}}]',NULL,NULL,1700000000);
INSERT INTO "messages" VALUES('m5','s1','assistant','[{"type": "reasoning", "data": {"thinking": "hm"}}]',NULL,NULL,1700000000);
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT,
                       summary_message_id TEXT, todos TEXT, created_at INTEGER,
                       updated_at INTEGER);
INSERT INTO "sessions" VALUES('s1',NULL,'Bread',NULL,NULL,1700000000,1700000009);
COMMIT;
