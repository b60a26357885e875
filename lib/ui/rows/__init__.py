"""The component that draws leaderboards and tables, and returns clicks on them as acts."""
