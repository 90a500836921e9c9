"""What must never be proved, although a careless tool would; each beside a neighbour that is right."""
from case import BAD_INPUT, REFINES, UNPROVED, Case, graph, node, placeholder, ref


class Promises(Case):
    def write_programs(self, sequential, ranks, manifest):
        self.write("seq.json", sequential)
        for rank, content in enumerate(ranks):
            self.write(f"r{rank}.json", content)
        self.write("m.yaml", f"sequential: seq.json\ndistributed: r{{rank}}.json\nranks: {len(ranks)}\n{manifest}")

    def check_pair(self, build, wrong=UNPROVED):
        """build(right) writes the programs."""
        with self.subTest("right"):
            build(True)
            self.check("m.yaml", code=REFINES)
        with self.subTest("wrong"):
            build(False)
            return self.check("m.yaml", code=wrong)

    def test_sharded_embedding_without_mask(self):
        def rank(number, masked):
            low = 5 * number
            nodes = [placeholder("ids", [6], "i64"), placeholder("E", [5, 4]),
                     node("shifted", "aten.sub.Tensor", [6], [ref("ids"), low], "i64")]
            index, rows = "shifted", "e"
            if masked:
                nodes += [node("below", "aten.lt.Scalar", [6], [ref("ids"), low], "b8"),
                          node("above", "aten.ge.Scalar", [6], [ref("ids"), low + 5], "b8"),
                          node("out", "aten.logical_or.default", [6], [ref("below"), ref("above")], "b8"),
                          node("safe", "aten.masked_fill.Scalar", [6], [ref("shifted"), ref("out"), 0], "i64")]
                index = "safe"
            nodes.append(node("e", "aten.embedding.default", [6, 4], [ref("E"), ref(index)]))
            if masked:
                nodes += [node("column", "aten.unsqueeze.default", [6, 1], [ref("out"), -1], "b8"),
                          node("rows", "aten.masked_fill.Scalar", [6, 4], [ref("e"), ref("column"), 0.0])]
                rows = "rows"
            nodes.append(node("y", "_c10d_functional.all_reduce.default", [6, 4], [ref(rows), "sum", "tp"]))
            return graph(nodes, ["ids", "E"], ["y"], number, 2)

        def build(right):
            sequential = graph([placeholder("ids", [6], "i64"), placeholder("E", [10, 4]),
                                node("y", "aten.embedding.default", [6, 4], [ref("E"), ref("ids")])], ["ids", "E"], ["y"])
            self.write_programs(sequential, [rank(r, right) for r in range(2)],
                                'assume: ["ids in [0, 10)"]\ninputs:\n  ids: Replicate\n  E: Shard(0)\nexpect:\n  y: Replicate\n')
        self.check_pair(build)

    def test_partial_sum_without_expectation(self):
        def rank(number):
            return graph([placeholder("x", [4, 3]), placeholder("w", [3, 5]), node("y", "aten.mm.default", [4, 5], [ref("x"), ref("w")])],
                         ["x", "w"], ["y"], number, 2)

        def build(right):
            sequential = graph([placeholder("x", [4, 6]), placeholder("w", [6, 5]),
                                node("y", "aten.mm.default", [4, 5], [ref("x"), ref("w")])], ["x", "w"], ["y"])
            self.write_programs(sequential, [rank(0), rank(1)],
                                "inputs:\n  x: Shard(1)\n  w: Shard(0)\n" + ("expect:\n  y: Partial\n" if right else ""))
        self.assertIn("is an all-reduce missing?", self.check_pair(build).stdout)

    def test_two_inputs_tied_by_alternatives(self):
        def build(right):
            sequential = graph([placeholder("a", [4]), placeholder("b", [4]), node("y", "aten.sub.Tensor", [4], [ref("a"), ref("b")])],
                               ["a", "b"], ["y"])
            ranks = [graph([placeholder("a", [4]), node("y", "aten.sub.Tensor", [4], [ref("a"), ref("a")])], ["a"], ["y"], r, 2)
                     for r in range(2)]
            self.write_programs(sequential, ranks, ('assume: ["a == b"]\n' if right else "") +
                                "inputs:\n  a: r0.a\n  b: [r0.a, r1.a]\nexpect:\n  y: r0.y\n")
        self.check_pair(build, wrong=BAD_INPUT)

    def test_sum_of_tensors_that_are_no_counterparts(self):
        def build(right):
            sequential = graph([placeholder("a", [4]), placeholder("b", [4]), node("y", "aten.add.Tensor", [4], [ref("a"), ref("b")])],
                               ["a", "b"], ["y"])
            ranks = [graph([placeholder("a", [4]), placeholder("b", [4]),
                            node("y", "aten.add.Tensor", [4], [ref("a"), ref("b")]), node("z", "aten.relu.default", [4], [ref("y")])],
                           ["a", "b"], ["y", "a", "b"], r, 2) for r in range(2)]
            if not right:
                for content in ranks:
                    content["outputs"] = ["a", "b"]
            self.write_programs(sequential, ranks, "inputs:\n  a: r0.a\n  b: r1.b\n" + ("  " if right else "expect:\n  y: \"add_n(r0.a, r1.b)\"\n"))
            if right:  # both on rank 0: a computation of that rank
                self.write_programs(sequential, ranks, "inputs:\n  a: r0.a\n  b: r0.b\nexpect:\n  y: r0.y\n")
        self.check_pair(build)

    def test_random_and_stateful_operators(self):
        for op, arguments in (("aten.rand_like.default", [ref("x")]), ("aten.bernoulli.default", [ref("x")]),
                              ("my.own.rng.default", [[4]]), ("my.own.update_.default", [ref("x")]),
                              ("_c10d_functional.my_exchange.default", [ref("x"), "tp"])):
            def build(right, op=op, arguments=arguments):
                def program(rank, world):
                    name = "my.own.pure.default" if right else op
                    operands = [ref("x")] if right else arguments
                    return graph([placeholder("x", [4]), node("y", name, [4], operands)], ["x"], ["y"], rank, world)
                self.write_programs(program(0, 1), [program(0, 2), program(1, 2)], "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n")
            with self.subTest(op):
                self.check_pair(build)

    def test_sizes_of_one_name_on_two_ranks(self):
        def build(right):
            def program(rank, world):
                return graph([placeholder("x", [8]), placeholder("z", ["u0"]),
                              node("y", "aten.slice.Tensor", ["u0"], [ref("x"), 0, 0, "u0"])], ["x", "z"], ["y"], rank, world)
            self.write_programs(program(0, 1), [program(0, 2), program(1, 2)],
                                'assume: ["u0 <= 8", "r0.u0 <= 8", "r1.u0 <= 8"]\ninputs:\n  x: Replicate\n  z: r0.z\nexpect:\n  y: '
                                + ("r0.y" if right else "r1.y") + "\n")
        self.check_pair(build)

    def test_uninitialised_memory_times_zero(self):
        def build(right):
            sequential = graph([placeholder("x", [4]), node("y", "aten.mul.Tensor", [4], [ref("x"), 0])], ["x"], ["y"])
            ranks = [graph([placeholder("x", [4]), node("e", "aten.relu.default" if right else "aten.empty_like.default", [4], [ref("x")]),
                            node("y", "aten.mul.Tensor", [4], [ref("e"), 0])], ["x"], ["y"], r, 2) for r in range(2)]
            self.write_programs(sequential, ranks, "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n")
        self.check_pair(build)

    def test_contradictory_givens(self):
        def build(right):
            sequential = graph([placeholder("x", [4]), node("a", "aten.relu.default", [4], [ref("x")]),
                                node("y", "aten.neg.default", [4], [ref("a")])], ["x"], ["y"])
            ranks = [graph([node("c", "aten.full.default", [4], [[4], 1]), node("d", "aten.full.default", [4], [[4], 2]),
                            node("y", "aten.neg.default", [4], [ref("c")])], [], ["y"])]
            self.write_programs(sequential, ranks, "given:\n  a: " + ("r0.c" if right else "[r0.c, r0.d]") + "\nexpect:\n  y: r0.y\n")
        self.check_pair(build, wrong=BAD_INPUT)

    def test_givens_that_contradict_the_sequential_program(self):
        def build(right):
            sequential = graph([node("a", "aten.full.default", [4], [[4], 1]), node("b", "aten.full.default", [4], [[4], 2]),
                                node("y", "aten.add.Tensor", [4], [ref("a"), ref("b")])], [], ["y"])
            ranks = [graph([placeholder("c", [4]), placeholder("d", [4]), node("y", "aten.add.Tensor", [4], [ref("c"), ref("d")])],
                           ["c", "d"], ["y"])]
            self.write_programs(sequential, ranks, "given:\n  a: r0.c\n  b: " + ("r0.d" if right else "r0.c") + "\nexpect:\n  y: r0.y\n")
        self.check_pair(build, wrong=BAD_INPUT)

    def test_permuted_or_repeated_output(self):
        def build(right):
            sequential = graph([placeholder("x", [4, 2]), node("y", "aten.relu.default", [4, 2], [ref("x")])], ["x"], ["y"])
            ranks = [graph([placeholder("x", [2, 2]), node("y", "aten.relu.default", [2, 2], [ref("x")])], ["x"], ["y"], r, 2) for r in range(2)]
            shards = ("r0", "r1") if right else ("r1", "r0")
            self.write_programs(sequential, ranks, "inputs:\n  x: Shard(0)\nexpect:\n  y: \"concat({}.y, {}.y; 0)\"\n".format(*shards))
        self.check_pair(build)
