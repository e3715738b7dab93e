/* What the tables below are made of, and how they are launched. */

enum {
  MIRAGE_MAP_BYTES = 128,
  MIRAGE_MAP_ALIGNMENT = 64,
  MIRAGE_MOST_DIMS = 16, /* of a packed tensor */
  MIRAGE_KNOWN = 16,     /* sets of constants that are remembered */
  MIRAGE_ALIGNMENT = 16  /* bytes, of tensors */
};

typedef enum {
  MIRAGE_INPUT,
  MIRAGE_OUTPUT,
  MIRAGE_SCRATCH,
  MIRAGE_PACKED,
  MIRAGE_COUNTERS,
  MIRAGE_MAP
} mirage_kind;

typedef struct { /* index: which one, or an offset in bytes into scratch memory or counters */
  mirage_kind kind;
  uint64_t index;
} mirage_argument;

typedef struct { /* dims innermost first; strides in bytes, without the innermost */
  mirage_argument tensor;
  uint64_t offset;
  int element;
  uint32_t rank;
  uint64_t dims[5], strides[5];
  uint32_t box[5];
  int swizzle;
} mirage_tensor_map;

typedef struct { /* in elements; see `pack` */
  unsigned int input, item_bytes, rank, run_dim;
  uint64_t offset, panel, source_bytes, elements;
  uint64_t shape[MIRAGE_MOST_DIMS], strides[MIRAGE_MOST_DIMS];
  uint64_t tile[MIRAGE_MOST_DIMS], counts[MIRAGE_MOST_DIMS];
  unsigned int order[MIRAGE_MOST_DIMS];
} mirage_packing;

typedef struct {
  const char *kernel;
  unsigned int grid[3], threads, shared_bytes;
  int follows; /* may start before the previous grid has ended */
  unsigned int argument_count;
  const mirage_argument *arguments;
} mirage_launch;

typedef struct {
  int major, minor, specific; /* specific: runs on this compute capability alone */
  const unsigned char *cubin;
  unsigned int launch_count, map_count, packed_count;
  const mirage_launch *launches;
  const mirage_tensor_map *maps;
  const mirage_packing *packed;
  size_t scratch_bytes, counter_bytes;
} mirage_code;

typedef struct {
  unsigned int input_count, output_count, constant_count, code_count;
  const size_t *bytes; /* of each input, then of each output */
  const unsigned int *constants;
  const mirage_code *codes;
} mirage_program;

typedef struct { /* aligned as the driver wants it */
  uint64_t address;
  int is_encoded;
  unsigned char bytes[MIRAGE_MAP_BYTES] __attribute__((aligned(MIRAGE_MAP_ALIGNMENT)));
} mirage_encoded;

typedef struct mirage_memory { /* device memory of ours: a packed copy, or counters */
  uint64_t address;
  uint64_t key;      /* the address of what was packed, or the stream */
  uint64_t number;   /* of the packed input, or of the capture */
  pthread_t thread;  /* for streams that are another one in each thread */
  struct mirage_memory *next;
} mirage_memory;

typedef struct mirage_loaded { /* the code in one context */
  unsigned long long context;
  const mirage_code *code;
  void *module;
  void **functions;
  mirage_encoded *maps;
  uint64_t *known; /* the addresses of constants of earlier calls */
  unsigned int known_count;
  mirage_memory *copies, *counters;
  struct mirage_loaded *next;
} mirage_loaded;

/* Tensors of one call, as addresses. */
typedef struct {
  const uint64_t *inputs, *outputs;
  uint64_t *packed;
  uint64_t scratch, counters;
  mirage_stream stream;
} mirage_call;

static void *mirage_new(size_t count, size_t size) { return calloc(count ? count : 1, size); }

/* Zeroed, and aligned as tensor maps are. */
static mirage_encoded *mirage_new_maps(size_t count) {
  void *made = NULL;
  const size_t size = (count ? count : 1) * sizeof(mirage_encoded);
  if (posix_memalign(&made, MIRAGE_MAP_ALIGNMENT, size) != 0) return NULL;
  return (mirage_encoded *)memset(made, 0, size);
}

/* How well code suits a device; negative where it cannot run. */
static int mirage_suits(const mirage_code *code, int major, int minor) {
  if (code->major != major || code->minor > minor) return -1;
  if (code->specific && code->minor != minor) return -1;
  return 2 * code->minor + code->specific;
}

static int mirage_choose(const mirage_program *program, const mirage_code **chosen) {
  int device, major, minor, limit, suits, best = -1, status;
  unsigned int i;
  status = mirage_cuda.context_device(&device);
  if (status == MIRAGE_INVALID_CONTEXT) return MIRAGE_NO_CONTEXT;
  if (status == MIRAGE_OK)
    status = mirage_cuda.device_attribute(&major, MIRAGE_CAPABILITY_MAJOR, device);
  if (status == MIRAGE_OK)
    status = mirage_cuda.device_attribute(&minor, MIRAGE_CAPABILITY_MINOR, device);
  if (status == MIRAGE_OK) status = mirage_cuda.device_attribute(&limit, MIRAGE_SHARED_LIMIT, device);
  if (status != MIRAGE_OK) return status;
  *chosen = NULL;
  for (i = 0; i < program->code_count; ++i) {
    suits = mirage_suits(&program->codes[i], major, minor);
    if (suits > best) {
      best = suits;
      *chosen = &program->codes[i];
    }
  }
  if (*chosen == NULL) return MIRAGE_NO_CODE;
  for (i = 0; i < (*chosen)->launch_count; ++i)
    if ((*chosen)->launches[i].shared_bytes > (unsigned int)limit) return MIRAGE_NO_SHARED_MEMORY;
  return MIRAGE_OK;
}

static int mirage_load_functions(mirage_loaded *loaded) {
  const mirage_code *code = loaded->code;
  unsigned int i;
  int status = mirage_cuda.module_load(&loaded->module, code->cubin);
  for (i = 0; status == MIRAGE_OK && i < code->launch_count; ++i) {
    const mirage_launch *launch = &code->launches[i];
    void **function = &loaded->functions[i];
    status = mirage_cuda.module_function(function, loaded->module, launch->kernel);
    if (status == MIRAGE_OK)
      status = mirage_cuda.function_set(*function, MIRAGE_DYNAMIC_SHARED_BYTES,
                                        (int)launch->shared_bytes);
    /* The driver loads kernels when they are first launched, which may be in a capture. */
    if (status == MIRAGE_OK) status = mirage_cuda.function_load(*function);
  }
  return status;
}

static void mirage_free_memory(mirage_memory **list) {
  while (*list != NULL) {
    mirage_memory *first = *list;
    *list = first->next;
    (void)mirage_cuda.release(first->address);
    free(first);
  }
}

static void mirage_unload(mirage_loaded *loaded) {
  mirage_free_memory(&loaded->copies);
  mirage_free_memory(&loaded->counters);
  if (loaded->module != NULL) (void)mirage_cuda.module_unload(loaded->module);
  free(loaded->functions);
  free(loaded->maps);
  free(loaded->known);
  free(loaded);
}

/* The number of the current context: its address may be that of an earlier one. */
static int mirage_context(unsigned long long *number) {
  void *context = NULL;
  int status = mirage_find_driver();
  if (status == MIRAGE_OK) status = mirage_cuda.context_current(&context);
  if (status != MIRAGE_OK) return status;
  if (context == NULL) return MIRAGE_NO_CONTEXT;
  return mirage_cuda.context_id(context, number);
}

/* The code in the current context, loaded if it is not yet; the caller holds the lock. */
static int mirage_load(const mirage_program *program, mirage_loaded **list, mirage_loaded **found) {
  unsigned long long number = 0;
  const mirage_code *code = NULL;
  mirage_loaded *made;
  int mode = MIRAGE_CAPTURE_RELAXED, status = mirage_context(&number);
  if (status != MIRAGE_OK) return status;
  for (*found = *list; *found != NULL; *found = (*found)->next)
    if ((*found)->context == number) return MIRAGE_OK;
  status = mirage_choose(program, &code);
  if (status != MIRAGE_OK) return status;
  made = (mirage_loaded *)mirage_new(1, sizeof *made);
  if (made == NULL) return MIRAGE_NO_MEMORY;
  made->context = number;
  made->code = code;
  made->functions = (void **)mirage_new(code->launch_count, sizeof(void *));
  made->maps = mirage_new_maps(code->map_count);
  made->known = (uint64_t *)mirage_new((size_t)MIRAGE_KNOWN * program->constant_count, sizeof(uint64_t));
  status = MIRAGE_NO_MEMORY;
  if (made->functions != NULL && made->maps != NULL && made->known != NULL) {
    /* Loading allocates, which harms no graph that is being captured meanwhile. */
    status = mirage_cuda.exchange_capture_mode(&mode);
    if (status == MIRAGE_OK) {
      status = mirage_load_functions(made);
      (void)mirage_cuda.exchange_capture_mode(&mode);
    }
  }
  if (status != MIRAGE_OK) {
    mirage_unload(made);
    return status;
  }
  made->next = *list;
  *list = *found = made;
  return MIRAGE_OK;
}

/* The number of the graph that is being captured from a stream, 0 where none is. */
static int mirage_capture(mirage_stream stream, uint64_t *number) {
  uint64_t id = 0;
  int state = 0;
  int status = mirage_cuda.stream_capture(stream, &state, &id, NULL, NULL, NULL, NULL);
  *number = status == MIRAGE_OK && state == MIRAGE_CAPTURE_ACTIVE ? id : 0;
  return status;
}

/* Device memory that is 0 when this returns; no stream waits for it and no capture sees it. */
static int mirage_zeroed(size_t size, uint64_t *address) {
  mirage_stream apart = NULL;
  int mode = MIRAGE_CAPTURE_RELAXED, status = mirage_cuda.exchange_capture_mode(&mode);
  if (status != MIRAGE_OK) return status;
  status = mirage_cuda.allocate(address, size);
  if (status == MIRAGE_OK) {
    status = mirage_cuda.stream_create(&apart, MIRAGE_STREAM_NON_BLOCKING);
    if (status == MIRAGE_OK) {
      status = mirage_cuda.fill(*address, 0, size, apart);
      if (status == MIRAGE_OK) status = mirage_cuda.stream_wait(apart);
      (void)mirage_cuda.stream_destroy(apart);
    }
    if (status != MIRAGE_OK) (void)mirage_cuda.release(*address);
  }
  (void)mirage_cuda.exchange_capture_mode(&mode);
  return status;
}

static int mirage_keep(mirage_memory **list, uint64_t address, uint64_t key, uint64_t number) {
  mirage_memory *made = (mirage_memory *)mirage_new(1, sizeof *made);
  if (made == NULL) {
    (void)mirage_cuda.release(address);
    return MIRAGE_NO_MEMORY;
  }
  made->address = address;
  made->key = key;
  made->number = number;
  made->thread = pthread_self();
  made->next = *list;
  *list = made;
  return MIRAGE_OK;
}

/* The counters for what runs on the stream now: a captured graph runs on any, so it has its own. */
static int mirage_counters(mirage_loaded *loaded, mirage_call *call) {
  const uint64_t key = (uint64_t)(uintptr_t)call->stream;
  const int per_thread = key == MIRAGE_STREAM_PER_THREAD;
  uint64_t capture = 0;
  const mirage_memory *each;
  int status;
  if (loaded->code->counter_bytes == 0) return MIRAGE_OK;
  status = mirage_capture(call->stream, &capture);
  if (status != MIRAGE_OK) return status;
  for (each = loaded->counters; each != NULL; each = each->next)
    if (each->key == key && each->number == capture &&
        (!per_thread || pthread_equal(each->thread, pthread_self()))) {
      call->counters = each->address;
      return MIRAGE_OK;
    }
  status = mirage_zeroed(loaded->code->counter_bytes, &call->counters);
  if (status != MIRAGE_OK) return status;
  return mirage_keep(&loaded->counters, call->counters, key, capture);
}

/* The element of the tensor that is element `place` of its packed copy; none of them: source_bytes. */
static uint64_t mirage_packed_from(const mirage_packing *packing, uint64_t place) {
  uint64_t position[MIRAGE_MOST_DIMS], source = packing->offset;
  unsigned int dim, i;
  position[packing->run_dim] = place % packing->panel;
  place /= packing->panel;
  for (dim = packing->rank; dim-- > 0;)
    if (dim != packing->run_dim) {
      position[dim] = place % packing->tile[dim];
      place /= packing->tile[dim];
    }
  dim = packing->run_dim;
  position[dim] += place % (packing->tile[dim] / packing->panel) * packing->panel;
  place /= packing->tile[dim] / packing->panel;
  for (i = packing->rank; i-- > 0;) {
    dim = packing->order[i];
    position[dim] += place % packing->counts[dim] * packing->tile[dim];
    place /= packing->counts[dim];
  }
  for (dim = 0; dim < packing->rank; ++dim) {
    if (position[dim] >= packing->shape[dim]) return packing->source_bytes;
    source += position[dim] * packing->strides[dim];
  }
  return source;
}

/* Tile after tile, and zeros past the end of the tensor. */
static void mirage_pack(const mirage_packing *packing, const unsigned char *from, unsigned char *to) {
  const size_t item = packing->item_bytes;
  uint64_t place, source;
  for (place = 0; place < packing->elements; ++place) {
    source = mirage_packed_from(packing, place);
    if (source < packing->source_bytes) memcpy(to + place * item, from + source * item, item);
  }
}

static int mirage_make_copy(const mirage_packing *packing, uint64_t address, uint64_t *copy) {
  const size_t size = packing->elements * packing->item_bytes;
  unsigned char *from = (unsigned char *)mirage_new(packing->source_bytes, 1);
  unsigned char *to = (unsigned char *)mirage_new(size, 1);
  int status = MIRAGE_NO_MEMORY;
  if (from != NULL && to != NULL) {
    status = mirage_cuda.download(from, address, packing->source_bytes);
    if (status == MIRAGE_OK) {
      mirage_pack(packing, from, to);
      status = mirage_cuda.allocate(copy, size);
    }
    if (status == MIRAGE_OK) {
      status = mirage_cuda.upload(*copy, to, size);
      if (status == MIRAGE_OK) status = mirage_cuda.context_wait();
      if (status != MIRAGE_OK) (void)mirage_cuda.release(*copy);
    }
  }
  free(from);
  free(to);
  return status;
}

static int mirage_packed_copy(mirage_loaded *loaded, unsigned int number, mirage_call *call) {
  const mirage_packing *packing = &loaded->code->packed[number];
  const uint64_t address = call->inputs[packing->input];
  const mirage_memory *each;
  uint64_t capture = 0;
  int status;
  for (each = loaded->copies; each != NULL; each = each->next)
    if (each->number == number && each->key == address) {
      call->packed[number] = each->address;
      return MIRAGE_OK;
    }
  status = mirage_capture(call->stream, &capture);
  if (status != MIRAGE_OK) return status;
  if (capture != 0) return MIRAGE_CAPTURED;
  /* What is still being written to the input. */
  status = mirage_cuda.context_wait();
  if (status == MIRAGE_OK) status = mirage_make_copy(packing, address, &call->packed[number]);
  if (status != MIRAGE_OK) return status;
  return mirage_keep(&loaded->copies, call->packed[number], address, number);
}

static uint64_t mirage_address(const mirage_argument *argument, const mirage_call *call) {
  switch (argument->kind) {
    case MIRAGE_INPUT: return call->inputs[argument->index];
    case MIRAGE_OUTPUT: return call->outputs[argument->index];
    case MIRAGE_PACKED: return call->packed[argument->index];
    case MIRAGE_COUNTERS: return call->counters + argument->index;
    default: return call->scratch + argument->index;
  }
}

static int mirage_encode(mirage_loaded *loaded, uint64_t number, const mirage_call *call) {
  static const uint32_t steps[5] = {1, 1, 1, 1, 1};
  const mirage_tensor_map *map = &loaded->code->maps[number];
  mirage_encoded *encoded = &loaded->maps[number];
  const uint64_t address = mirage_address(&map->tensor, call) + map->offset;
  int status;
  if (encoded->is_encoded && encoded->address == address) return MIRAGE_OK;
  encoded->is_encoded = 0;
  status = mirage_cuda.encode(encoded->bytes, map->element, map->rank, (void *)(uintptr_t)address,
                              map->dims, map->strides, map->box, steps, 0, map->swizzle, 0, 0);
  encoded->address = address;
  encoded->is_encoded = status == MIRAGE_OK;
  return status;
}

/* `values` and `parameters` have room for the arguments of any launch. */
static int mirage_start(mirage_loaded *loaded, unsigned int number, int early, const mirage_call *call,
                        uint64_t *values, void **parameters) {
  const mirage_launch *launch = &loaded->code->launches[number];
  mirage_configuration configuration;
  mirage_attribute attribute;
  unsigned int i;
  int status;
  for (i = 0; i < launch->argument_count; ++i) {
    const mirage_argument *argument = &launch->arguments[i];
    if (argument->kind == MIRAGE_MAP) {
      status = mirage_encode(loaded, argument->index, call);
      if (status != MIRAGE_OK) return status;
      parameters[i] = loaded->maps[argument->index].bytes;
    } else {
      values[i] = mirage_address(argument, call);
      parameters[i] = &values[i];
    }
  }
  memset(&attribute, 0, sizeof attribute);
  attribute.id = MIRAGE_PROGRAMMATIC_START;
  attribute.value.allowed = 1;
  memset(&configuration, 0, sizeof configuration);
  memcpy(configuration.grid, launch->grid, sizeof configuration.grid);
  configuration.block[0] = launch->threads;
  configuration.block[1] = configuration.block[2] = 1;
  configuration.shared_bytes = launch->shared_bytes;
  configuration.stream = call->stream;
  if (launch->follows && early) {
    configuration.attributes = &attribute;
    configuration.attribute_count = 1;
  }
  return mirage_cuda.launch(&configuration, loaded->functions[number], parameters, NULL);
}

/*
 * Whether a call before had these constants; they are remembered. A kernel that starts early reads
 * them at once: not in their first call, where the previous grid may be the one that writes them.
 */
static int mirage_is_known(const mirage_program *program, mirage_loaded *loaded,
                           const uint64_t *inputs, int remember) {
  const unsigned int count = program->constant_count;
  unsigned int kept = loaded->known_count, i, j, slot;
  if (kept > MIRAGE_KNOWN) kept = MIRAGE_KNOWN;
  for (i = 0; i < kept; ++i) {
    for (j = 0; j < count && loaded->known[i * count + j] == inputs[program->constants[j]]; ++j) {
    }
    if (j == count) return 1;
  }
  if (remember) {
    slot = loaded->known_count % MIRAGE_KNOWN;
    for (j = 0; j < count; ++j) loaded->known[slot * count + j] = inputs[program->constants[j]];
    /* From MIRAGE_KNOWN on it says which is replaced next. */
    if (++loaded->known_count == 2 * MIRAGE_KNOWN) loaded->known_count = MIRAGE_KNOWN;
  }
  return count == 0;
}

static int mirage_launch_all(const mirage_program *program, mirage_loaded *loaded, mirage_call *call,
                             uint64_t *values, void **parameters) {
  const mirage_code *code = loaded->code;
  unsigned int i;
  int early, status = MIRAGE_OK;
  for (i = 0; status == MIRAGE_OK && i < code->packed_count; ++i)
    status = mirage_packed_copy(loaded, i, call);
  if (status == MIRAGE_OK) status = mirage_counters(loaded, call);
  early = mirage_is_known(program, loaded, call->inputs, 0);
  for (i = 0; status == MIRAGE_OK && i < code->launch_count; ++i) {
    status = mirage_start(loaded, i, early, call, values, parameters);
    early = 1;
  }
  if (status == MIRAGE_OK) (void)mirage_is_known(program, loaded, call->inputs, 1);
  return status;
}

static int mirage_overlap(uint64_t one, size_t one_bytes, uint64_t other, size_t other_bytes) {
  return one < other + other_bytes && other < one + one_bytes;
}

/* What a call checks before anything is launched; `tensors` are the inputs, then the outputs. */
static int mirage_check(const mirage_program *program, const uint64_t *tensors, uint64_t scratch,
                        size_t scratch_bytes) {
  const unsigned int count = program->input_count + program->output_count;
  unsigned int i, j;
  if (scratch_bytes != 0 && scratch == 0) return MIRAGE_NULL_SCRATCH;
  if (scratch % MIRAGE_ALIGNMENT != 0) return MIRAGE_MISALIGNED;
  for (i = 0; i < count; ++i) {
    if (tensors[i] == 0) return MIRAGE_NULL_TENSOR;
    if (tensors[i] % MIRAGE_ALIGNMENT != 0) return MIRAGE_MISALIGNED;
    if (mirage_overlap(tensors[i], program->bytes[i], scratch, scratch_bytes)) return MIRAGE_OVERLAP;
    for (j = 0; i >= program->input_count && j < i; ++j)
      if (mirage_overlap(tensors[i], program->bytes[i], tensors[j], program->bytes[j]))
        return MIRAGE_OVERLAP;
  }
  return MIRAGE_OK;
}

/* Launch a program; `tensors` are its inputs, then its outputs. */
static int mirage_run(const mirage_program *program, mirage_loaded **list, const uint64_t *tensors,
                      void *scratch, size_t scratch_bytes, mirage_stream stream) {
  uint64_t values[MIRAGE_MOST_ARGUMENTS], packed[MIRAGE_MOST_PACKED];
  void *parameters[MIRAGE_MOST_ARGUMENTS];
  mirage_loaded *loaded = NULL;
  mirage_call call;
  int status;
  call.inputs = tensors;
  call.outputs = tensors + program->input_count;
  call.packed = packed;
  call.scratch = (uint64_t)(uintptr_t)scratch;
  call.counters = 0;
  call.stream = stream;
  status = mirage_check(program, tensors, call.scratch, scratch_bytes);
  if (status != MIRAGE_OK) return status;
  pthread_mutex_lock(&mirage_lock);
  status = mirage_load(program, list, &loaded);
  if (status == MIRAGE_OK)
    status = mirage_launch_all(program, loaded, &call, values, parameters);
  pthread_mutex_unlock(&mirage_lock);
  return status;
}

static int mirage_load_now(const mirage_program *program, mirage_loaded **list) {
  mirage_loaded *loaded = NULL;
  int status;
  pthread_mutex_lock(&mirage_lock);
  status = mirage_load(program, list, &loaded);
  pthread_mutex_unlock(&mirage_lock);
  return status;
}

/* Give back what was loaded and allocated in the current context. */
static int mirage_release(mirage_loaded **list) {
  unsigned long long number = 0;
  int status;
  pthread_mutex_lock(&mirage_lock);
  status = mirage_context(&number);
  for (; status == MIRAGE_OK && *list != NULL; list = &(*list)->next)
    if ((*list)->context == number) {
      mirage_loaded *loaded = *list;
      *list = loaded->next;
      mirage_unload(loaded);
      break;
    }
  pthread_mutex_unlock(&mirage_lock);
  return status;
}
