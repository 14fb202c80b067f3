BEGIN TRANSACTION;
CREATE TABLE chat (id VARCHAR PRIMARY KEY, user_id VARCHAR, title TEXT, chat TEXT,
                       created_at INTEGER, updated_at INTEGER, archived BOOLEAN);
INSERT INTO "chat" VALUES('c1',NULL,'Bread','{"models": ["llama3"], "history": {"currentId": null, "messages": {"q": {"id": "q", "parentId": null, "childrenIds": [], "role": "user", "content": "Hello", "timestamp": 1700000000}}}}',1700000000,1700000010,NULL);
COMMIT;
