-- The database's users. Carillon's needs its own database and nothing else; reader is for people.
CREATE USER IF NOT EXISTS 'carillon'@'@HOST@' IDENTIFIED BY '@CARILLON_PASSWORD@';
GRANT ALL ON carillon.* TO 'carillon'@'@HOST@';
CREATE USER IF NOT EXISTS 'reader'@'@HOST@' IDENTIFIED BY '@READER_PASSWORD@';
GRANT SELECT, SHOW VIEW ON carillon.* TO 'reader'@'@HOST@';
