"""What leaves the desk: alerts, mails and snapshots, sent and drawn without Streamlit."""
