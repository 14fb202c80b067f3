"""What is on the screen: widgets that show values and say what the reader did."""
