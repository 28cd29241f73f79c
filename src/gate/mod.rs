mod report;
mod words;
