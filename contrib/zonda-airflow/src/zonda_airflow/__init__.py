"""Apache Airflow executes the workflows of zonda's resources."""
