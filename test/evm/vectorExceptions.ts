/** Official cases that this EVM does not run, each with the outcome it declares instead. */
export type VectorException = { outcome: 'unsupported' | 'exhausted'; reason: string }

const LARGE_GAS: VectorException = {
  outcome: 'unsupported',
  reason: 'its gas limit is 2^53 or more, which no block and no node offers; gas is a number here',
}

const FILES_WITH_LARGE_GAS = [
  'VMTests/vmPerformance/loopMul',
  'stCallCreateCallCodeTest/Call1024PreCalls',
  'stCallCreateCallCodeTest/CallLoseGasOOG',
  'stCallCreateCallCodeTest/CallRecursiveBombPreCall',
  'stCallCreateCallCodeTest/Callcode1024BalanceTooLow',
  'stCreate2/Create2OnDepth1023',
  'stCreate2/Create2OnDepth1024',
  'stCreate2/Create2Recursive',
  'stDelegatecallTestHomestead/Call1024PreCalls',
  'stDelegatecallTestHomestead/CallLoseGasOOG',
  'stDelegatecallTestHomestead/CallRecursiveBombPreCall',
  'stDelegatecallTestHomestead/Delegatecall1024',
  'stRevertTest/LoopCallsDepthThenRevert2',
  'stRevertTest/LoopCallsDepthThenRevert3',
  'stSpecialTest/OverflowGasMakeMoney',
  'stStaticCall/static_Call10',
  'stStaticCall/static_Call1024PreCalls',
  'stStaticCall/static_Call1024PreCalls2',
  'stStaticCall/static_Call1024PreCalls3',
  'stStaticCall/static_CallLoseGasOOG',
  'stStaticCall/static_CallRecursiveBombPreCall',
  'stStaticCall/static_CallRecursiveBombPreCall2',
  'stStaticCall/static_LoopCallsDepthThenRevert2',
  'stStaticCall/static_LoopCallsDepthThenRevert3',
  'stSystemOperationsTest/Call10',
  'stTransactionTest/HighGasLimit',
  'stTransactionTest/OverflowGasRequire2',
]

const EXCEPTIONS: ReadonlyMap<string, VectorException> = new Map([
  ...FILES_WITH_LARGE_GAS.map((name) => [`GeneralStateTests/${name}.json`, LARGE_GAS] as const),
  [
    'GeneralStateTests/stTimeConsuming/CALLBlake2f_MaxRounds.json',
    { outcome: 'exhausted', reason: '2^32 - 1 rounds of BLAKE2 are over any budget of steps' },
  ],
])

/** The exception for a file; within it, cases that can run must still pass. */
export function exceptionFor(path: string): VectorException | undefined {
  return EXCEPTIONS.get(path)
}
