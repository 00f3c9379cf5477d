import type { Address, Hex } from 'viem'

/**
 * A tracer in JavaScript for debug_traceCall that answers in the format of geth's `erc7562Tracer`, for
 * nodes that do not have that one. It runs inside the node (geth's goja, the boa of reth and anvil), so
 * it is plain text of an older JavaScript. From `innerHandleOp` on everything is execution: calls are
 * still reported, instructions are ignored.
 */
export function collectorSource(entryPoint: Address, innerHandleOp: Hex): string {
  return `{
  entryPoint: '${entryPoint}',
  innerHandleOp: '${innerHandleOp}',
${MEMBERS}}`
}

/** The state and the methods of the tracer, as the members of an object literal. */
const MEMBERS = `  frames: [],
  keccak: [],
  executing: false,
  hex: function (number, digits) {
    var text = number.toString(16);
    while (text.length < digits) text = '0' + text;
    return '0x' + text;
  },
  open: function () {
    return {
      accessedSlots: { reads: {}, writes: {}, transientReads: {}, transientWrites: {} },
      extCodeAccessInfo: [], usedOpcodes: {}, contractSize: {}, outOfGas: false, calls: []
    };
  },
  enter: function (call) {
    if (this.frames.length === 0) this.frames.push(this.open());
    var frame = this.open();
    frame.type = call.getType();
    frame.from = toHex(call.getFrom());
    frame.to = toHex(call.getTo());
    frame.input = toHex(call.getInput());
    frame.gas = this.hex(call.getGas(), 1);
    var value = call.getValue();
    if (value !== undefined && value !== null) frame.value = this.hex(value, 1);
    if (frame.to === this.entryPoint && frame.input.slice(0, 10) === this.innerHandleOp) {
      this.executing = true;
    }
    this.frames.push(frame);
  },
  exit: function (end) {
    var frame = this.frames.pop();
    frame.gasUsed = this.hex(end.getGasUsed(), 1);
    var output = end.getOutput();
    if (output !== undefined && output !== null) frame.output = toHex(output);
    var error = end.getError();
    if (error) {
      frame.error = error;
      frame.outOfGas = error.indexOf('out of gas') >= 0;
    }
    delete frame.last;
    delete frame.inspected;
    this.frames[this.frames.length - 1].calls.push(frame);
  },
  isCall: function (op) { return op === 0xf1 || op === 0xf2 || op === 0xf4 || op === 0xfa; },
  isPlain: function (op) {
    return op < 0x0c || (op >= 0x10 && op < 0x1e) || (op >= 0x50 && op < 0x54) ||
      (op >= 0x56 && op < 0x5c) || (op > 0x5e && op < 0xa0);
  },
  step: function (log, db) {
    if (this.executing) return;
    if (this.frames.length === 0) this.frames.push(this.open());
    var frame = this.frames[this.frames.length - 1];
    var op = log.op.toNumber();
    var last = frame.last;
    frame.last = op;
    if (last === 0x5a && !this.isCall(op)) this.use(frame, last);
    if (frame.inspected) {
      if (last !== 0x3b || op !== 0x15) frame.extCodeAccessInfo.push(frame.inspected);
      frame.inspected = undefined;
    }
    if (this.isPlain(op)) return;
    this.use(frame, op);
    var depth = log.stack.length();
    var inspects = op === 0x3b || op === 0x3c || op === 0x3f;
    if ((inspects && depth > 0) || (this.isCall(op) && depth > 1)) {
      var word = this.hex(log.stack.peek(inspects ? 0 : 1), 64);
      var address = '0x' + word.slice(26);
      if (frame.contractSize[address] === undefined) {
        frame.contractSize[address] = {
          contractSize: db.getCode(toAddress(address)).length, opcode: op
        };
      }
      if (inspects) frame.inspected = address;
    } else if ((op === 0x54 || op === 0x5c) && depth > 0) {
      var read = this.hex(log.stack.peek(0), 64);
      var slots = frame.accessedSlots;
      if (op === 0x5c) slots.transientReads[read] = (slots.transientReads[read] || 0) + 1;
      else if (!slots.reads[read] && !slots.writes[read]) {
        slots.reads[read] = [toHex(db.getState(log.contract.getAddress(), toWord(read)))];
      }
    } else if ((op === 0x55 || op === 0x5d) && depth > 1) {
      var write = this.hex(log.stack.peek(0), 64);
      var writes = op === 0x55 ? frame.accessedSlots.writes : frame.accessedSlots.transientWrites;
      writes[write] = (writes[write] || 0) + 1;
    } else if (op === 0x20 && depth > 1) {
      var size = parseInt(log.stack.peek(1).toString(10), 10);
      if (size >= 64 && size <= 1024) this.noteHashed(log, size);
    }
  },
  noteHashed: function (log, size) {
    var from = parseInt(log.stack.peek(0).toString(10), 10);
    var held = log.memory.length();
    if (from > held) return;
    var bytes = toHex(log.memory.slice(from, Math.min(from + size, held)));
    while (bytes.length < 2 + 2 * size) bytes += '00';
    this.keccak.push(bytes);
  },
  use: function (frame, op) {
    var key = this.hex(op, 1);
    frame.usedOpcodes[key] = (frame.usedOpcodes[key] || 0) + 1;
  },
  fault: function () {},
  result: function (ctx) {
    var root = this.frames.length === 0 ? this.open() : this.frames[0];
    delete root.last;
    delete root.inspected;
    root.type = ctx.type;
    root.from = toHex(ctx.from);
    root.to = toHex(ctx.to);
    root.input = toHex(ctx.input);
    root.gas = this.hex(ctx.gas, 1);
    root.gasUsed = this.hex(ctx.gasUsed, 1);
    if (ctx.output !== undefined) root.output = toHex(ctx.output);
    if (ctx.error) root.error = ctx.error;
    root.keccak = this.keccak;
    return root;
  }
`
