import type { Hex } from 'viem'
import { decodeEventLog, parseAbi, toEventSelector } from 'viem/utils'
import { boundText } from '../../erc4337/encoding/boundText.js'
import { type EvmLog, toHex } from '../../evm/index.js'
import type { NamedEvent } from './replayed.js'

const standards = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 amount)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event Approval(address indexed owner, address indexed spender, uint256 amount)',
  'event Approval(address indexed owner, address indexed spender, uint256 indexed id)',
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 amount)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] amounts)',
  'event Deposit(address indexed account, uint256 amount)',
  'event Withdrawal(address indexed account, uint256 amount)',
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
  'event UserOperationRevertReason(bytes32 indexed userOpHash, address indexed sender, uint256 nonce, bytes revertReason)',
  'event PostOpRevertReason(bytes32 indexed userOpHash, address indexed sender, uint256 nonce, bytes revertReason)',
  'event AccountDeployed(bytes32 indexed userOpHash, address indexed sender, address factory, address paymaster)',
  'event Deposited(address indexed account, uint256 totalDeposit)',
  'event BeforeExecution()',
])

/** The same event with another number of indexed members is another standard's. */
const known: ReadonlyMap<string, (typeof standards)[number]> = new Map(
  standards.map((event) => {
    const topics = 1 + event.inputs.filter((input) => 'indexed' in input && input.indexed).length
    return [`${toEventSelector(event)} ${topics}`, event]
  }),
)

/** Bytes of the data of an event that are shown at most. */
const MOST_BYTES = 512

/** The event of a log; its members only where they can be read. */
export function nameEvent({ address, topics, data }: EvmLog): NamedEvent {
  const whole = { address, topics: [...topics], data: toHex(data.subarray(0, MOST_BYTES)) }
  const members = readEvent({ address, topics, data })
  if (members === undefined) return { ...whole, name: null, args: [] }
  const args = Object.entries(members.args).map(([name, value]) => ({ name, value: text(value) }))
  return { ...whole, name: members.name, args }
}

function text(value: unknown): string {
  return boundText(Array.isArray(value) ? value.slice(0, 20).join(', ') : String(value))
}

function readEvent({ topics, data }: EvmLog) {
  const event = known.get(`${topics[0]} ${topics.length}`)
  if (event === undefined) return undefined
  try {
    const decoded = decodeEventLog({
      abi: [event],
      topics: topics as [Hex, ...Hex[]],
      data: toHex(data),
    })
    return { name: event.name, args: (decoded.args ?? {}) as Readonly<Record<string, unknown>> }
  } catch {
    return undefined
  }
}
