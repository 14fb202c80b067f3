BEGIN TRANSACTION;
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES('composer.composerData','{"allComposers":[{"composerId":"6f000000-aaaa-4bbb-8ccc-000000000001"}]}');
COMMIT;
