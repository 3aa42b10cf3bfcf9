//! Pieces of a stream → its lines, one after the other, out of one buffer.

use crate::failure::Failure;
use memchr::memchr;

/// Kubernetes stores objects of at most a few MiB.
const LONGEST: usize = 32 << 20;

/// What a buffer may keep while nothing is in it.
const IDLE: usize = 16 << 10;

#[derive(Debug, Default)]
pub(crate) struct Lines {
    buffer: Vec<u8>,
    /// Up to here there is no end of a line.
    looked_at: usize,
}

impl Lines {
    /// Gives each whole line to `each`, in order.
    pub(crate) fn take(
        &mut self,
        piece: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.buffer.extend_from_slice(piece);
        let mut start = 0;
        while let Some(end) = memchr(b'\n', &self.buffer[self.looked_at..]).map(|at| at + self.looked_at) {
            each(&self.buffer[start..end])?;
            start = end + 1;
            self.looked_at = start;
        }
        self.buffer.drain(..start);
        self.looked_at = self.buffer.len();
        if self.buffer.len() > LONGEST {
            return Err(Failure::TooLarge(LONGEST >> 20));
        }
        if self.buffer.is_empty() && self.buffer.capacity() > IDLE {
            self.buffer.shrink_to(IDLE);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_the_stream_is_cut() {
        let text = b"one\ntwo and more\n\nthree\nhalf";
        for size in 1..text.len() {
            let (mut lines, mut seen) = (Lines::default(), Vec::new());
            for piece in text.chunks(size) {
                lines
                    .take(piece, |line| {
                        seen.push(String::from_utf8_lossy(line).into_owned());
                        Ok(())
                    })
                    .unwrap();
            }
            assert_eq!(seen, ["one", "two and more", "", "three"], "pieces of {size}");
        }
    }

    #[test]
    fn a_large_line_leaves_no_large_buffer() {
        let mut lines = Lines::default();
        lines.take(&vec![b'x'; 1 << 20], |_| Ok(())).unwrap();
        lines.take(b"\n", |_| Ok(())).unwrap();
        assert!(lines.buffer.capacity() <= IDLE);
        assert!(lines.take(&vec![b'x'; LONGEST + 1], |_| Ok(())).is_err());
    }
}
