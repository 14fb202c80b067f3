BEGIN TRANSACTION;
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES('composerData:6f000000-aaaa-4bbb-8ccc-000000000001','{"composerId": "6f000000-aaaa-4bbb-8ccc-000000000001", "createdAt": 1741000000000, "conversation": [{"bubbleId": "b1", "type": 1, "text": "Make it faster"}, {"bubbleId": "b2", "type": 2, "text": "An old copy"}], "name": "New chat"}');
INSERT INTO cursorDiskKV VALUES('bubbleId:6f000000-aaaa-4bbb-8ccc-000000000001:b2','{"type": 2, "text": "It is faster now."}');
COMMIT;
