BEGIN TRANSACTION;
CREATE TABLE chat (id INTEGER, name TEXT, model TEXT);
INSERT INTO chat VALUES(1,'Sea','a');
CREATE TABLE message (id INTEGER, chat_id INTEGER, author TEXT, text TEXT);
INSERT INTO message VALUES(1,1,'user','Hello');
INSERT INTO message VALUES(2,1,'tool','output');
COMMIT;
