//! (front page)
