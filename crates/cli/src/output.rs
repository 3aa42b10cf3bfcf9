//! The only way to standard output: text, JSON or YAML. It knows pipes that close early, disks that are full and
//! terminals that want no colour, so that no verb has to.

use anstream::{AutoStream, ColorChoice, adapter::strip_str};
use mizzen_text::yaml;
use serde::Serialize;
use std::{
    error, fmt,
    io::{self, BufWriter, Write},
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
    Yaml,
}

/// Why nothing more can be printed.
#[derive(Debug)]
pub(crate) enum Closed {
    /// The reader of the pipe has seen enough, as in `mizzen … | head`: no failure at all.
    ByReader,
    Failed(io::Error),
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByReader => f.write_str("the reader of the output is gone"),
            Self::Failed(_) => f.write_str("the output could not be written"),
        }
    }
}

impl error::Error for Closed {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::ByReader => None,
            Self::Failed(error) => Some(error),
        }
    }
}

impl From<io::Error> for Closed {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ByReader,
            _ => Self::Failed(error),
        }
    }
}

pub(crate) struct Output {
    sink: BufWriter<Box<dyn Write>>,
    colours: bool,
    /// Set while something is being done that must not end because nobody hears of it.
    goes_on: bool,
    /// Why nothing is printed any more, where that is a failure to be told at the end.
    failed: Option<io::Error>,
}

impl Output {
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let colours = AutoStream::choice(&stdout) != ColorChoice::Never;
        Self::new(stdout, colours)
    }

    fn new(sink: impl Write + 'static, colours: bool) -> Self {
        Self { sink: BufWriter::new(Box::new(sink)), colours, goes_on: false, failed: None }
    }

    /// From here on something is being changed: whoever stops reading does not stop that. What cannot be printed is lost, and
    /// told at the end unless it was the reader's own wish.
    pub(crate) fn go_on_unread(&mut self) {
        self.goes_on = true;
    }

    fn survived(&mut self, result: io::Result<()>) -> Result<(), Closed> {
        match result {
            Err(error) if self.goes_on => {
                // What is buffered must not be tried again.
                let sink = BufWriter::new(Box::new(io::sink()) as Box<dyn Write>);
                drop(std::mem::replace(&mut self.sink, sink).into_parts());
                if let Closed::Failed(error) = Closed::from(error) {
                    self.failed.get_or_insert(error);
                }
                Ok(())
            }
            result => Ok(result?),
        }
    }

    /// Text that may carry colours; they are removed where they are not wanted.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Closed> {
        let result = if self.colours {
            self.sink.write_all(text.as_bytes())
        } else {
            write!(self.sink, "{}", strip_str(text))
        };
        self.survived(result)
    }

    /// Bytes exactly as they are, such as a script for a shell.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        let result = self.sink.write_all(bytes);
        self.survived(result)
    }

    /// A value in the format that was asked for; its text is its `Display`, ended by a newline.
    pub(crate) fn show<T: Serialize + fmt::Display>(
        &mut self,
        format: Format,
        value: &T,
    ) -> Result<(), Closed> {
        match format {
            Format::Text => self.text(&format!("{value}\n")),
            Format::Json => self.json(value),
            Format::Yaml => {
                let value = serde_json::to_value(value).map_err(io::Error::from)?;
                self.bytes(yaml::to_string(&value).as_bytes())
            }
        }
    }

    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Closed> {
        let json = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.bytes(format!("{json}\n").as_bytes())
    }

    /// Until this has worked nothing is known to have been printed. A verb that prints over time calls it itself.
    pub(crate) fn flush(&mut self) -> Result<(), Closed> {
        let result = self.sink.flush();
        self.survived(result)
    }

    /// The last word of every verb.
    pub(crate) fn finish(&mut self) -> Result<(), Closed> {
        self.flush()?;
        match self.failed.take() {
            Some(error) => Err(Closed::Failed(error)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::RefCell, rc::Rc};

    #[derive(Clone, Default)]
    struct Page(Rc<RefCell<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(colours: bool, print: impl FnOnce(&mut Output)) -> String {
        let page = Page::default();
        let mut output = Output::new(page.clone(), colours);
        print(&mut output);
        output.flush().unwrap();
        String::from_utf8(page.0.take()).unwrap()
    }

    #[test]
    fn colours_reach_only_those_who_want_them() {
        let red = "\u{1b}[31mred\u{1b}[0m";
        assert_eq!(printed(true, |out| out.text(red).unwrap()), red);
        assert_eq!(printed(false, |out| out.text(red).unwrap()), "red");
    }

    #[test]
    fn a_value_is_shown_in_each_format() {
        let show = |format| printed(false, |out| out.show(format, &"1.31").unwrap());
        assert_eq!(show(Format::Text), "1.31\n");
        assert_eq!(show(Format::Json), "\"1.31\"\n");
        assert_eq!(show(Format::Yaml), "\"1.31\"\n");
    }

    struct Shut(io::ErrorKind);

    impl Write for Shut {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn whoever_changes_something_goes_on_when_nobody_reads() {
        let mut output = Output::new(Shut(io::ErrorKind::BrokenPipe), false);
        output.text("a").unwrap();
        assert!(matches!(output.flush(), Err(Closed::ByReader)));
        for (kind, told) in [(io::ErrorKind::BrokenPipe, false), (io::ErrorKind::StorageFull, true)] {
            let mut output = Output::new(Shut(kind), false);
            output.go_on_unread();
            for _ in 0..3 {
                output.text("a line").unwrap();
                output.flush().unwrap();
            }
            assert_eq!(output.finish().is_err(), told, "{kind:?}");
        }
    }

    #[test]
    fn a_reader_that_left_is_told_from_a_disk_that_is_full() {
        assert!(matches!(Closed::from(io::Error::from(io::ErrorKind::BrokenPipe)), Closed::ByReader));
        assert!(matches!(Closed::from(io::Error::from(io::ErrorKind::StorageFull)), Closed::Failed(_)));
    }
}
