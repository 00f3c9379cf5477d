import { formatEther } from 'viem/utils'
import type { AdminAnswer } from '../api/contracts/createAdminClient.js'

type Replay = AdminAnswer<'GET /operations/{chainId}/{userOpHash}/replay'>
type Frame = Replay['frames'][number]

/** Prints a replay for people: how it ended, its calls one below the other, and what changed hands. */
export function printReplay({ frames, transfers, isCut, ...replay }: Replay): void {
  const { moment, transactionHash, block, success, code, reason, revertData } = replay
  const ending = success ? 'succeeded' : 'failed'
  console.log(
    `${replay.isChanged ? 'with the changes ' : ''}${ending} in block ${block}, ${moments[moment](transactionHash)}`,
  )
  if (replay.actualGasUsed !== null)
    console.log(
      `gas ${replay.actualGasUsed}, cost ${formatEther(BigInt(replay.actualGasCost ?? 0))}`,
    )
  const words = [code, reason].filter((word) => word !== null && word !== '')
  if (words.length > 0) console.log(`reason: ${words.join(' ')}`)
  if (revertData !== '0x') console.log(`revert data: ${shorten(revertData)}`)
  for (const frame of frames) printFrame(frame)
  if (isCut) console.log('Further calls are left out: there are too many.')
  for (const { kind, token, from, to, amount, id } of transfers) {
    const what = kind === 'native' ? formatEther(BigInt(amount)) : `${amount} of ${token}`
    console.log(`transfer: ${what}${id === null ? '' : ` #${id}`} from ${from} to ${to}`)
  }
}

const moments: Readonly<Record<Replay['moment'], (transaction: string | null) => string>> = {
  mined: (transaction) => `in transaction ${transaction}`,
  refused: () => 'in its validation',
  alone: () => 'by itself',
}

function printFrame(frame: Frame): void {
  const { depth, kind, to, role, value, gasUsed, error, reason, isFault, storage, events } = frame
  const indent = '  '.repeat(depth)
  const paid = value === '0' ? '' : ` with ${formatEther(BigInt(value))}`
  const ending = error === null ? '' : `  ${error}${reason === null ? '' : `: ${reason}`}`
  const mark = isFault ? '=> ' : '   '
  console.log(
    `${mark}${indent}${kind} ${role ?? to} ${callOf(frame)}${paid}  gas ${gasUsed}${ending}`,
  )
  for (const { slot, before, after } of storage)
    console.log(`   ${indent}  slot ${shorten(slot)}: ${shorten(before)} -> ${shorten(after)}`)
  for (const { name, args, topics } of events)
    console.log(`   ${indent}  event ${name ?? topics[0] ?? 'without name'} ${listed(args)}`)
}

function callOf({ function: named, input, inputBytes }: Frame): string {
  if (named === null) return inputBytes === 0 ? '' : `${input.slice(0, 10)} (${inputBytes} bytes)`
  const [name = ''] = named.signature.split('(')
  return `${name}(${named.args.map(({ value }) => shorten(value)).join(', ')})`
}

function listed(args: Frame['events'][number]['args']): string {
  return args.map(({ name, value }) => `${name} ${shorten(value)}`).join(', ')
}

/** Characters of a value that a line has. */
const LONGEST = 90

function shorten(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
