"""Names of the files in a backup: those of a data folder, plus the manifest."""

DATABASE = "hoglet.db"
WAREHOUSE = "warehouse"
KEY_FILE = "secret.key"
MANIFEST = "backup.json"
