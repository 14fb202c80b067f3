CREATE TABLE "workspaces" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL, "slug" TEXT NOT NULL,
  "vectorTag" TEXT, "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "openAiTemp" REAL,
  "lastUpdatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "openAiPrompt" TEXT, "chatModel" TEXT, "chatMode" TEXT);
CREATE TABLE "workspace_threads" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL,
  "slug" TEXT NOT NULL, "workspace_id" INTEGER NOT NULL, "user_id" INTEGER,
  "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "lastUpdatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE "workspace_chats" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "workspaceId" INTEGER NOT NULL,
  "prompt" TEXT NOT NULL, "response" TEXT NOT NULL, "include" BOOLEAN NOT NULL DEFAULT true, "user_id" INTEGER,
  "thread_id" INTEGER, "api_session_id" TEXT, "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "lastUpdatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "feedbackScore" BOOLEAN);
INSERT INTO "workspaces" VALUES(1,'Papers','papers',NULL,1764200000000,NULL,1764200000000,NULL,'llama3','chat');
INSERT INTO "workspace_threads" VALUES(1,'Thread','7a1d2f3e-2b44-4f0a-9d0e-1c2b3a4d5e6f',1,NULL,1764201000000,1764201000000);
INSERT INTO "workspace_threads" VALUES(2,'About the sea','8b2e3f4a-2b44-4f0a-9d0e-1c2b3a4d5e6f',1,NULL,1764202000000,1764202000000);
INSERT INTO "workspace_chats" VALUES(1,1,'What is in the paper?','{"text":"A proof.","sources":[{"title":"paper.pdf","text":"Theorem 1","score":0.9},{"title":"paper.pdf","text":"Theorem 2"}],"type":"chat","attachments":[],"metrics":{"prompt_tokens":120,"completion_tokens":4,"total_tokens":124,"outputTps":20.5,"duration":0.2,"model":"llama3:8b"}}',1,NULL,NULL,NULL,1764200100000,1764200100000,NULL);
INSERT INTO "workspace_chats" VALUES(2,1,'See this','{"text":"<think>A cat?</think>\n\nA cat.","sources":[],"type":"chat","attachments":[{"name":"cat.png","mime":"image/png","contentString":"data:image/png;base64,aGVsbG8="}]}',1,NULL,1,NULL,1764201100000,1764201100000,NULL);
INSERT INTO "workspace_chats" VALUES(3,1,'And who wrote it?','{"text":"Ada.","sources":[],"type":"chat"}',0,NULL,NULL,NULL,'2025-11-27 00:00:00','2025-11-27 00:00:00',NULL);
INSERT INTO "workspace_chats" VALUES(4,1,'Is it deep?','{"text":"Very.","sources":[],"type":"query"}',1,NULL,2,NULL,1764202100000,1764202100000,NULL);
INSERT INTO "workspace_chats" VALUES(5,1,'Mine alone?','{"text":"","sources":[],"type":"chat"}',1,7,NULL,NULL,1764202200000,1764202200000,NULL);
INSERT INTO "workspace_chats" VALUES(6,9,'Of a workspace that is gone','{"text":"Still here.","sources":[],"type":"chat"}',1,NULL,NULL,'s-1',1764202300000,1764202300000,NULL);
