"""Names of the files in a backup, which are those of a data folder but for the manifest."""

DATABASE = "hoglet.db"
WAREHOUSE = "warehouse"
KEY_FILE = "secret.key"
MANIFEST = "backup.json"
