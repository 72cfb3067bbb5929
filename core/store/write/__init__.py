"""The one writer: database, transaction, edges. Called by the engine; imports all of the store."""
