"""Constants of the cost model that no GPU's row has, with the measurements behind them."""

SECTOR, LINE = 32, 128
"""Bytes that device memory hands out at once, and that L2 keeps together."""

LATER_RUN, LATER = 256, 1.015
"""Bytes of a line below which a tile is dearer whose neighbours in the line come in later
iterations, and by how much. Weights [out, in] in tiles with 128, 256 and 512 bytes of each line
took 57.0, 56.1 and 56.0 us on an H200 (a gated MLP of 14,336), 57.9 and 56.7 for 16 rows, and 29.9
and 29.5 (a matmul of 14,336), with staggered loops."""

OWN_RUN, MOST_HALVINGS = 512, 2
"""Bytes of a line from which on that is so for tiles of lines that no other block reads, for each
time that a piece is half as long, and how often at most. Of 14 matmuls of 1 and 16 rows with 3,072
to 14,336 columns and weights [out, in] those with one block on each multiprocessor took 2 to 4 %
longer on an H200 with 256 bytes than with 512: 13.9 us and 13.6 (6,144 columns), 10.6 and 10.1."""

LINE_SHARE = 0.25
"""How much whole lines count beside whole sectors in the price of a short run: fitted to RMSNorm
and a linear layer on an H200, 255 tilings (see `benchmarks/README.md`)."""

FUNCTION_WORK = 8.0
"""Scalar operations that a division or a transcendental function counts for."""

PIECE_WORK = 4.0
"""Scalar operations that one copied piece (16 bytes where aligned) counts for: its address."""

LEAST_PIECE, ODD_PIECE = 4, 10.0
"""Bytes of the smallest piece that is copied to shared memory as it is, and how many of such pieces
a smaller one counts for, which a thread loads and stores: matmuls of 127 rows of odd lengths took
100 us where the bytes take 10."""

SHIFTED_PIECE = 18.0
"""The same for a piece of 16 bytes that a thread shifts into place: ptxas makes 26 instructions of
it. Ten kernels of RMSNorm and a linear layer of 1,003 columns took 1.3 to 3 times the time of a
model with 7 on an H200, and a matmul of 127 by 4,093 by 4,099 1.15."""

STRETCHED = 1.5
"""How much longer it takes to read and write tiles over which a small matmul's result is stretched.
Seven such kernels that scale 19 MB took 15 to 29 us on an H200, where the model had 12 to 23; two
that shift as well 14 us, 8 in the model, where a matmul and another kernel took 9.3."""

VECTOR_READ, SINGLE_READ = 1.0, 12.0
"""Scalar operations that an element read from shared memory counts for, where a thread reads
neighbours at once and where it does not: its address, the load and the conversion. A matmul by
threads instead of the tensor core took 4 times as long on an H200."""

STRETCHED_SHARED, RAGGED_COLUMN = 0.4, 6.0
"""What reads of stretched tiles in shared memory take of `VECTOR_READ`: a thread has blocks of rows
there, and reads for several at once (`passes/layouts/row_blocks.py`). And the scalar operations to
mask an element of such a tile in a loop whose last iteration has not all columns: on an H200
classes by 12 features took 1.6 to 1.9 of what they take by the other terms in tiles of 8, in those
of 2 and 4 0.7 to 1.2."""

STRETCHED_READ, ROW_DIVISION = 4.0, 16.0
"""Scalar operations for each run of columns that a thread reads of a tile which lacks a dimension
of its rows, and to take a row number apart, where a dimension is no power of two. On an H200 the
distances of 2,048 points to as many others took 15.5 to 20.3 us in tiles of 1 by 512, 2 by 512 and
4 by 128 points, and 25 to 32 in those of 2 by 293 to 410 or 4 by 248; by the other terms all take
10.7 to 11.6."""

LANE_EXCHANGE = 5.0
"""Scalar operations for a step of a reduction over lanes: a multiprocessor shuffles 32 elements a
cycle, where it adds 128, and adds what came."""

ONE_BY_ONE = 64.0
"""Scalar operations for each element that is reduced over a part of the rows by way of shared
memory: it is written and read by itself, between barriers, and so for the maximum that a softmax
subtracts, which is not counted by itself. On an H200 soft assignments to 96 codes
took 7.1 to 7.8 us in tiles of 4 vectors, and 5.0 to 5.5 in those of 20, whose warps have whole
ones."""

ACROSS_READ, ACROSS_MOST = 0.7, 180.0
"""Scalar operations that an element counts for where neighbouring threads read along a column of
a tile in shared memory, for each element of such a column, and how many of them count: the threads
of a warp spread over more rows, whose banks collide. Fitted to 12 matmuls of one row by threads on
an H200, columns of 32 to 256."""

TF32_WORK, TF32_READ = 2.0, 1.0
"""How much longer than a matmul of f16 one of tf32 takes a tensor core (PTX ISA: half the depth in
one instruction), and scalar operations for each byte of its operands: a thread loads elements of 4
bytes one by one, and rounds them. Not fitted to anything that was timed."""

THRICE_WORK, THRICE_READ, THRICE_STEP = 2.9, 36.0, 84e-9
"""How much longer than a matmul of f16 one of f32 takes a tensor core (three of tf32), operations
of f16 for each byte that a warp reads of its operands (it loads elements one by one, and splits
them), and seconds from one iteration to the next. Fitted to 40 matmuls of f32 on an H200, 23 to 93
us, of depths 256 and 4,096: off by 10 %, where two operations of threads for each multiplication
were off by 45 % and put tilings first that took 1.3 to 1.5 of the fastest."""

BUSY_THREADS = 512
"""Threads that keep the arithmetic units of a multiprocessor busy."""

BUSY_IN_LOOPS = 256
"""The same in loops that add up tiles: each thread has up to `LOOP_ELEMENTS` of them, which do not
wait for each other. Of 131 kernels that were timed on an H200 the model ranks 0.94, with 512 0.90,
and likewise with 128."""

MATMULS_BUSY, ENOUGH_BUSY = 0.6, 0.5
"""The part of the rate that threads reach beside warpgroup matmuls, and how many of them are
enough for that: each has many independent elements. Attention with 256 threads took 21.7 us on an
H200, with 512 it took 25."""

WARPS_BUSY, GROUPS_BUSY = 2, 4
"""How many times fewer keep the tensor cores busy: one warpgroup is enough, as tiles of 64 by 128
elements on each multiprocessor of an H200 showed."""

IDLE_LATENCY = 0.2e-6
"""Seconds that the first answer of an idle memory adds to an empty kernel: most of it passes while
the kernel before ends. This, the waits of reductions and the registers of kernels without
matmuls are read off 73 kernels of rows and elements on an H200 (1.3 to 44 us)."""

HIDING_BLOCKS = 16.0
"""Blocks of a multiprocessor, at most, that hide each other's waits at barriers. RMSNorm of 1,024
columns took 33.3 us on an H200 with 16 blocks of 2 rows, 33.6 with 8 of 4, in f32 64.3, 64.5, 65.4
and 65.2 with 32 of one row, 16 of 2, 8 of 4 and 4 of 8."""

FULL_REGISTERS = 1.1
"""How much longer copies take where a thread keeps more than 96 elements: log-sum-exp of 2,048 rows
of 32,000 took 42.4 us on an H200 with two rows for each block, 40.2 with one."""

SINGLE_WARPS = 1.02
"""How much longer copies take where blocks of single warps fill half of a multiprocessor's room for
warps: a stencil of 2,048 rows took 15.9 us on an H200 with tiles of 256 elements, 12.1 with 512;
by so little since what is in flight is enough for most programs."""

BLOCK_START = 3e-8
"""Seconds from the end of a block to the first instruction of the next one in its place."""

LOOP_STEP = 0.14e-6
"""Seconds from one iteration to the next, at least, where a warp of its own copies for them: the
others wait for the tile, multiply and let go of it. 24 iterations of 13 KB on each multiprocessor
of an H200 took 9.1 us, 12 of 26 KB 7.7 (788 rows, 384 columns, a depth of 1,536)."""

BESIDE = 16
"""Power by which copies and work of such a loop add up: where one takes as long as the other, 4 %
more than either alone."""

BEHIND_BUSY, BEHIND_RATE = 256, 1.3
"""Threads of warpgroups that keep the arithmetic units busy behind a loop, where no matmul runs,
and how much faster they are than the counted instructions: functions of the special unit run beside
others. Of 90 tilings of five linear layers with GELU, SiLU or tanh on an H200 (320 to 1,024 deep,
1,024 to 16,384 rows, 9 to 110 us) the model is off by 9 %, where it was off by 12 % with half of
this rate and a fourth of it seen in persistent blocks."""

BLOCK_INTERVAL = 1.6e-7
"""Seconds between the starts of two blocks on one multiprocessor, at least: 248 blocks on each, of
one row of 2 KB and 64 threads, took 40.6 us on an H200, and 124 blocks of two such rows 33.3."""

CLUSTER_BARRIER, CLUSTER_BARRIER_PER_BLOCK = 1e-6, 0.15e-6
"""Seconds that two blocks of a cluster take to meet twice, once before they read each other's sums
and once before the first may end, and what each further block adds."""

PIPELINE_CLUSTER_BARRIER, PIPELINE_CLUSTER_BARRIER_PER_BLOCK = 0.35e-6, 0.15e-6
"""The same where the blocks of the next kernel start their copies meanwhile. This and what else is
said of loops with tensor copies is read off 260 kernels of 17 programs with matmuls on an H200,
and refitted to those that the searches took next (see `benchmarks/README.md`)."""

ROW_BARRIER, ROW_BARRIER_PER_BLOCK = 0.05e-6, 0.075e-6
"""The same for a cluster without a loop, whose blocks start together, load as much, and deliver
their sums: read off RMSNorm and softmax of 512 rows of 65,536 and 65,537 on an H200, f16 and f32,
in clusters of four (39 to 91 us) and of eight (40 to 101): RMSNorm is off by 5 %, and of each
program the first is the fastest."""

WORKSPACE_BARRIER = 1.5e-6
"""Seconds that blocks take to leave parts of a sum in device memory and to count themselves, and
the last one to find that it is: a fence, two barriers, an atomic operation and an answer of L2, one
after the other. Not fitted to anything that was timed."""

EXCHANGE_RATE = 1.5e10
"""Bytes that a block reads in a second from the shared memory of others of its cluster."""

APART, ALL_APART, PIPELINE_APART = 0.15, 0.7, 0.5
"""How much of the shorter of copying and computing does not overlap with the other in a loop where
all threads do both, where there is no loop, and where a warp of its own starts all copies at
once. Nothing in a loop that reads and writes whole rows: five gradients of RMSNorm on an H200, of
2,048 to 8,192 columns, took 0.98 to 1.02 of the model's time so, 0.88 to 0.97 with the first; one
of 4,099 columns 1.06."""

TWO_APART, THREE_APART, FOUR_APART = 0.85, 0.1, 0.05
"""The same in a loop whose copies such a warp starts, with two buffers of each tile, with three and
with four; nothing with more. Matmuls of tiles of 128 by 128 and more took 50 us with two of 96 KB
where 26 were enough with seven of 32 KB. The last two and `OPERAND_READ` are fitted to 170 matmuls
of 64 to 4,096 rows on an H200."""

HELD_BUFFERS, ENOUGH_AHEAD = 2, 80 * 1024
"""Buffers that matmuls read of each tile, this iteration's and the one before, and bytes in two
others and more with which copies do not wait for them. On an H200 matmuls of 4,096 rows took 216.9
us with two of 48 KB, and 221.6 with three of 42; 2,048 rows 176.8 us with two of 46 KB, and 207.6
with one of 64."""

LAST_ITERATION, PIPELINE_WAITS = 0.15, 0.1
"""What the last iteration's work and the waits of reductions take where a warp of its own starts
the copies, as a part of what they take elsewhere: warps do not wait for each other then, and the
next kernel's copies run meanwhile. Waits take so little also in a loop over whole rows, whose time
is that of the copies: on an H200 four gradients of RMSNorm took 1.00 to 1.01 of the model's time
without them, 0.85 to 0.87 of it with them, and three others 0.94 to 1.06 without."""

COPY_ITERATION, COPY_BOX = 40e-9, 33e-9
"""Seconds from one iteration of the loop to the next where the copies limit it, whatever their
bytes: for the barriers, and for each box. This, `AGAIN`, `APART_RATE`, what one multiprocessor gets
from device memory, `SHORT_LINES` and `OPERAND_READ` were fitted together to 190 matmuls of 1 to 512
rows on an H200, half of them at random from up to 1.7 times the best: off by 9 %."""

COPY_LINE = 0.85e-9
"""Seconds that the tensor copies of a multiprocessor take for each line of their boxes, however
short it is. Tiles of 80 and 112 columns of f16 have boxes with lines of 16 columns, 32 bytes: on an
H200 12 matmuls of 32 to 512 rows with many such lines took 0.8 to 1.0 ns for each, up to 36 us
where the bytes take 20."""

CLOSE_LINES, L2_LINE = 2.5, 128
"""How many times as long lines take that are fewer bytes apart than a line of L2 has. On an H200
tiles of 16-byte lines that are 64 bytes apart took 2.1 to 2.5 ns for each, 96 bytes apart 1.6 to
2.2, and 192 bytes apart 0.8."""

TOGETHER = 4
"""Power by which bytes and iterations add up to the time of copies: iterations that take three
fourths of what the bytes take cost 7 % more, as timed."""

NEITHER = 10
"""Power by which the times of device memory and of one multiprocessor that reads it add up: where
both are near neither reaches its limit. On an H200 112 blocks took 61.0 us for 235 MB, 128 blocks
56.2."""

PIPELINE_LAUNCH = 0.2e-6
"""Seconds less of a launch where the first copies start while the previous grid ends."""

AGAIN = 0.33
"""What reading from L2 by tensor copies takes, as a part of what it takes alone, where device
memory is read meanwhile: blocks that follow each other ask for the same lines at the same time."""

APART_RATE, MOST_APART = 7.5e12, 2.0
"""Bytes a second that blocks of other clusters read again, on top of that, and how often they count
at most. Blocks that follow each other share a multiprocessor's neighbours and its part of L2, but
clusters are dealt out to other parts of the chip. On an H200, of 36 matmuls of 32 to 256 rows whose
clusters of two add up sums, those in which two blocks read the same weights took 1.3 to 3 us longer
than without this, for 34 and 50 MB, and two with four such blocks 4 and 5 us; where the two are
eight clusters apart, on the same part of the chip, they took 0.8 us less."""

SCATTERED, SCATTERED_AGAIN = 0.03, 0.15
"""For loops that begin with different iterations, whose blocks read along lines of their own: how
much longer device memory takes with one block on each multiprocessor (a part of it with two and
three, nothing with four), and `AGAIN`, as their blocks do not ask L2 for the same tile at once. On
an H200 one, two and four blocks took 55.6, 54.9 and 54.3 us (a gated MLP of 14,336, 16 rows), two
and four 55.1 and 54.3 (8 rows), though four read x again for every 28 rows of the weights."""

EMPTY_HELPS = 1.0
"""How much less of that it is with one block each, for the part of the multiprocessors that have
none: 112 blocks took 28.5 us where 128 took 28.8 (a matmul of 14,336, 16 rows), 96 and 128 blocks
13.6 (6,144); but 103 blocks 10.1 where 128 took 9.9 (4,096), and 114 blocks 17.8 where 128 took
17.2 (8,192)."""

NEXT_BLOCK = 5e-8
"""Seconds that each further block of a multiprocessor takes to start, in such loops: a linear layer
of 4096 columns took 10.2 us with 256 blocks, 10.8 with 512."""

UNEVEN = 0.15
"""What such loops take longer with several blocks on a multiprocessor, for the part of their places
that is empty in the last round: blocks of fuller multiprocessors end later. The same gated MLPs
took 1.3 to 2 % longer with 224, 359, 448 and 896 blocks than with 256, 384, 512 and 1024. Loops
that read the same lines at the same time go on at the same pace anyway."""

FROM_L2 = 2.0
"""How much faster a multiprocessor receives from L2 than from device memory; a guess."""

KEPT_IN_L2 = 0.7
"""Part of L2 that a tensor fills at most that is read from device memory but once: other tensors
and results pass through the rest. An assumption: not fitted to anything that was timed."""

READ_AGAIN, PIPELINE_READ_AGAIN = 0.25, 0.05
"""Part of the repeated reads of a tensor larger than that which go to device memory; less by tensor
copies, as the blocks of a matmul start in panels."""

EARLY_BYTES, EARLY_START = 96 * 1024, 0.65e-6
"""Bytes that a block reads up to which a kernel without a producer starts while the previous grid
runs, and what is saved so: second kernels of attention took 1.0 to 1.4 us on an H200."""

READING_ITERATION = 0.55e-6
"""Seconds of an iteration in which threads read a tile beside warpgroups that multiply it: squares
of 512 rows beside a matmul took 40 us on an H200, the matmul alone 27.5."""

MEETING_ITERATION = 0.15e-6
"""The same of one in which warpgroups of attention need what threads compute of a tile, beside what
they read: with the squares of keys summed before, and two warpgroups, attention of normalised keys
took 28.7 us on an H200 in 24 iterations of a block after the other, for 26.9 without this."""

UNCHAINED_ITERATION, UNCHAINED_ELEMENT = 0.3e-6, 0.25e-9
"""Seconds of an iteration, and for each element, where a matmul's operand made of another
matmul's result goes through shared memory, with a maximum of the whole block: 8 by 32 elements
took 0.2 to 0.5 us more, 40 by 350 some 3 us."""

CHAIN_START, CHAIN_ITERATION, CHAIN_LOOP = 0.5e-6, 0.15e-6, 0.4e-6
"""Seconds of a block with a matmul of exps of a matmul, once and in each iteration: one waits for
the other, and in the end sums of several warps come together. Attention on an H200 took 0.8 us more
than its bytes with four iterations, 1.2 with eight. An iteration counts for each tile of rows that
a warp or a warpgroup computes, one after the other: of 8 heads with 1,500 queries and keys tiles of
192 rows, three for each warpgroup, took 24.8 us, of 128 rows 18.5 with 12 iterations and 22.4 with
24. The last is added where there are several iterations, whose sums are rescaled: of 16 kernels for
one query and 1,024 keys those with such a loop took 0.4 to 0.9 us more than a model without it,
those that loop over the depth of the first matmul 0.0 to 0.2."""

TURN_ITERATION = 0.05e-6
"""The same of an iteration where nothing is shifted, shared by the blocks of a multiprocessor: 256
matrices of 1,024 queries and keys through sigmoids took 220 us on an H200 with iterations of 32
keys, 270 with 16; 16 of 128 with decays 15.2 us with 64 keys, 16.2 with 128."""

MOST_WALKING, CROWDED = 3, 1.2
"""Blocks on a multiprocessor, each of which reads and writes whole rows in a loop, up to which
device memory answers at its rate, and how much longer more of them take: the gradient of RMSNorm of
32,768 rows of 2048 took 108 us on an H200 with two, 129 with four."""
