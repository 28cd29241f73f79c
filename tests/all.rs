//! The one test binary: what needs the real binary, real tools or real files.

mod taskfiles;
