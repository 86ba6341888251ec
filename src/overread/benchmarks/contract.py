"""What a benchmark is: one file of this folder (or anywhere, by path) with

    a docstring                  its first line is the title that `overread list benchmarks` shows; below it the card,
                                 lines of `key: value`: paper, media, licence, terms
    ARCHIVES = ("phantoms",)     whose cases it is made from
    PROTOCOLS = ("chain",)       how it can be sat; the first is the default
    PROBES = ("reverse",)        probes of its media that it can follow
    JUDGES = ("option",)         who judges, one for each kind of question
    METRICS = ("accuracy",)      what is scored; the first is the headline
    MODELS = ()                  optional: solvers that `overread demo` and `audit` add to the floors
    VARIANTS = ()                optional: names for `benchmark:variant`
    OPTIONS = {"key": "default"} optional: what `--set BENCHMARK.key=value` can set
    FRAMING = "mine.yaml"         optional: the file of `overread.prompts` that frames its questions; an option
                                 `prompts` names another
    def archives(options: Mapping[str, str]) -> tuple[str, ...]     optional: whose cases it needs, where options tell
    def remarks(options: Mapping[str, str]) -> Iterator[str]        optional: what runs tell whoever reads their scores
    AUDIT = {"depth": "my_depth"}    optional: metrics that an audit tells by these names, also for each value of the
    AUDIT_BY = "diagnosis"           slice of this name
    def exam(cases: Sequence[Case], seed: int, options: Options) -> Iterator[Script]

`exam` sees all cases, so it may balance, split, and borrow distractors. It is called twice and must yield the same
scripts both times: whatever it draws comes from `seeded(...)` in `overread.media.conditions`.
"""
