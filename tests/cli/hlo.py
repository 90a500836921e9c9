"""Programs in HLO text."""
from case import BAD_INPUT, REFINES, UNPROVED, Case, graph, node, placeholder, ref

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
SEQUENTIAL = """HloModule layer
ENTRY main {
  x = f32[4,8] parameter(0)
  w = f32[8,6] parameter(1)
  ROOT y = f32[4,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={source_file="layer.py" source_line=7}
}
"""
DISTRIBUTED = f"""HloModule layer, num_partitions=2
{ADD}
ENTRY main {{
  x = f32[4,4] parameter(0)
  w = f32[4,6] parameter(1)
  p = f32[4,6] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{source_file="layer.py" source_line=9}}
  ROOT y = f32[4,6] all-reduce(p), channel_id=1, use_global_device_ids=true, replica_groups={{{{0,1}}}}, to_apply=add
}}
"""
MANIFEST = """sequential: s.txt
distributed: d.txt
ranks: 2
inputs:
  x: Shard(1)
  w: Shard(0)
expect:
  y: Replicate
"""


class Hlo(Case):
    def judged(self, code, sequential=SEQUENTIAL, distributed=DISTRIBUTED, manifest=MANIFEST):
        self.write("s.txt", sequential)
        self.write("d.txt", distributed)
        return self.run_program("check", self.write("m.yaml", manifest), code=code)

    def bad(self, place, message, **texts):
        run = self.judged(BAD_INPUT, **texts)
        self.assertEqual(run.stdout, "")
        first = run.stderr.splitlines()[0]
        self.assertTrue(first.startswith(place), first)
        self.assertIn(message, first)
        self.assertEqual(run.stderr.count("error:"), 1, run.stderr)

    def test_one_module_for_all_ranks(self):
        self.assertIn("y = r0.y", self.judged(REFINES).stdout)

    def test_the_place_of_a_failure(self):
        wrong = DISTRIBUTED.replace("all-reduce(p), channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}, to_apply=add", "copy(p)")
        out = self.judged(UNPROVED, distributed=wrong).stdout
        self.assertIn("y  hlo.dot  layer.py:7", out)
        self.assertIn("layer.py:9", out)

    def test_the_same_bytes_every_time(self):
        self.assertEqual(self.judged(REFINES).stdout, self.judged(REFINES).stdout)

    def test_a_module_for_each_rank(self):
        for rank in range(2):
            self.write(f"d.r{rank}.hlo", DISTRIBUTED)
        self.judged(REFINES, manifest=MANIFEST.replace("d.txt", "d.r{rank}.hlo"))

    def test_hlo_and_json_in_one_manifest(self):
        sequential = graph([placeholder("x", [4, 8]), placeholder("w", [8, 6]), node("y", "aten.mm.default", [4, 6], [ref("x"), ref("w")])], ["x", "w"], ["y"])
        self.write("s.json", sequential)
        self.judged(REFINES, manifest=MANIFEST.replace("s.txt", "s.json"))

    def test_another_number_of_ranks(self):
        self.bad("m.yaml:2:", "`d.txt` is of a program with 4 ranks, the manifest has 2",
                 distributed=DISTRIBUTED.replace("num_partitions=2", "num_partitions=4").replace("{{0,1}}", "{{0,1},{2,3}}"))

    def test_malformed_text(self):
        self.bad("s.txt:5:27: error:", "expected `,` or `)`", sequential=SEQUENTIAL.replace("f32[4,6] dot(x, w)", "f32[4,6] dot(x w)"))
        self.bad("s.txt:2:12: error:", "expected", sequential=SEQUENTIAL.replace("main {", "main -"))

    def test_shapes_that_do_not_fit(self):
        self.bad("s.txt:5:8: error:", "the operands of `y` (hlo.dot, layer.py:7) do not fit it", sequential=SEQUENTIAL.replace("lhs_contracting_dims={1}", "lhs_contracting_dims={0}"))
        self.bad("s.txt:5:8: error:", "recorded as", sequential=SEQUENTIAL.replace("y = f32[4,6]", "y = f32[4,5]"))

    def test_a_module_that_is_cut_off_anywhere(self):
        for end in range(len("HloModule"), len(DISTRIBUTED) - 2, 7):
            self.write("d.txt", DISTRIBUTED[:end])
            self.write("s.txt", SEQUENTIAL)
            run = self.run_program("check", self.write("m.yaml", MANIFEST), code=BAD_INPUT)
            self.assertRegex(run.stderr, r"^d\.txt:\d+:\d+: error: ")

    def test_devices_that_differ_in_the_sequential_program(self):
        self.bad("s.txt:", "the sequential program runs on one device, this module on 2", sequential=DISTRIBUTED)

    def test_annotations_are_no_layout(self):
        whole = SEQUENTIAL.replace("layer\n", "layer, num_partitions=2\n", 1).replace("parameter(0)", "parameter(0), sharding={devices=[1,2]<=[2]}")
        manifest = MANIFEST.replace("Shard(1)", "Replicate").replace("Shard(0)", "Replicate")
        self.assertIn("`sharding` says nothing of its values", self.judged(REFINES, distributed=whole, manifest=manifest).stdout)
