BEGIN TRANSACTION;
CREATE TABLE "chat" ("id" INTEGER, "name" TEXT, "model" TEXT NOT NULL, "system" TEXT,
                     PRIMARY KEY("id" AUTOINCREMENT));
INSERT INTO "chat" VALUES(1,'Sky','llama3',NULL);
CREATE TABLE "message" ("id" INTEGER, "chat_id" INTEGER NOT NULL, "author" TEXT NOT NULL,
                        "text" TEXT NOT NULL, "images" TEXT DEFAULT "[]",
                        PRIMARY KEY("id" AUTOINCREMENT));
INSERT INTO "message" VALUES(1,1,'user','Why?','[]');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('chat',1);
INSERT INTO "sqlite_sequence" VALUES('message',1);
COMMIT;
