//! A program that answers every line with a line, and stays for the next question.

use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, PoisonError},
    thread,
};

use crate::{
    error::{During, Error, Result},
    run::{MARK, run},
    tools,
};

pub(super) struct Talk {
    verb: &'static str,
    program: Mutex<Option<Program>>,
}

struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    log: PathBuf,
}

impl Talk {
    pub(super) fn new(verb: &'static str) -> Self {
        Self { verb, program: Mutex::new(None) }
    }

    /// The answers to some lines, in their order. The program is started with these arguments if it is not there.
    pub(super) fn ask(&self, lines: &[String], arguments: &[PathBuf]) -> Result<Vec<String>> {
        if let Some(line) = lines.iter().find(|line| line.contains(['\n', '\r']) || line.trim().is_empty()) {
            return Err(Error::other(format_args!("not one line: {line:?}")));
        }
        let mut place = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        // It is put back only when every line has been answered: after half a conversation nobody knows which answer
        // comes next, so another program is started.
        let mut program = match place.take() {
            Some(program) => program,
            None => Program::start(self.verb, arguments)?,
        };
        let answers = program.answers(lines)?;
        *place = Some(program);
        Ok(answers)
    }
}

impl Program {
    fn start(verb: &str, arguments: &[PathBuf]) -> Result<Self> {
        let log = run().log_file(&format!("istio-oracle-{verb}"));
        let errors = File::create(&log).during("make the oracle's log")?;
        let mut child = Command::new(tools::command("istio-oracle")?)
            .arg(verb)
            .args(arguments)
            .env(MARK, run().folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .during("start istio-oracle")?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::other("istio-oracle has no pipes"));
        };
        Ok(Self { child, input, output: BufReader::new(output), log })
    }

    /// Writes from a thread of its own: pipes are small, and two programs that both write wait for ever.
    fn answers(&mut self, lines: &[String]) -> Result<Vec<String>> {
        let Self { input, output, log, .. } = self;
        let failed =
            |reason: String| Error::Part { part: "istio-oracle".into(), reason, log: Some(log.clone()) };
        thread::scope(|scope| {
            let writing = scope.spawn(move || {
                let mut out = BufWriter::new(input);
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
                out.flush()
            });
            let answers: Vec<String> = output
                .lines()
                .take(lines.len())
                .collect::<Result<_, _>>()
                .map_err(|error| failed(error.to_string()))?;
            if let Ok(Err(error)) = writing.join() {
                return Err(failed(error.to_string()));
            }
            if answers.len() < lines.len() {
                return Err(failed(format!("it ended after {} of {} answers", answers.len(), lines.len())));
            }
            Ok(answers)
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
