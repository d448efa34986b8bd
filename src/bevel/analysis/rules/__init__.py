"""The rules of trees and paths, and the directions of their splits."""
