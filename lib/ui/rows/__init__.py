"""The component that draws leaderboards and tables, and turns clicks on them into acts."""
