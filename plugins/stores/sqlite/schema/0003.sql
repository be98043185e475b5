-- What a list tells of an exchange without its body, as JSON; null for everything that was not served here.
ALTER TABLE record ADD COLUMN summary TEXT;
