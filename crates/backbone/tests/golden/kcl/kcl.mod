[package]
name = "models"
version = "0.1.0"
