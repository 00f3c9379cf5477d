import {
  type Address,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  parseGwei,
  toHex,
} from 'viem'
import { encodeOperation } from '../../../src/api/dialects/operationFields.js'
import type { EntryPoint } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { create2Address, fromHex } from '../../../src/evm/index.js'
import type { Random } from '../../evm/random.js'
import { type Json, type RpcAnswer, rpc } from '../http/jsonRpc.js'
import type { Battlefield } from './battlefield.js'
import {
  type Clause,
  encodeProgram,
  executeCall,
  hostile,
  makeCall,
  sponsorData,
} from './hostile.js'
import { type Head, type Phase, randomProgram } from './randomProgram.js'
import { createTwins } from './twins.js'

const abi = parseAbi([
  'function depositTo(address account) payable',
  'function getNonce(address sender, uint192 key) view returns (uint256)',
])

/** What became of the adversary's requests, by the code of the answer. */
export type Tally = Map<string, number>

/** One hostile account and the EntryPoint for which it was made. */
type Puppet = { readonly salt: Hex; readonly address: Address; readonly entryPoint: EntryPoint }

/** Fields that an answer of the service sets in an operation; quantities are hex there. */
type Quoted = Readonly<Record<string, Hex | undefined>>

const PUPPETS = 24
/** Sponsorships that one flood asks for. */
const FLOOD = 40

/** The adversary: `act` makes one random move, which the seed and the moves before it decide. */
export function createAdversary(field: Battlefield, random: Random) {
  const tally: Tally = new Map()
  const internal: string[] = []
  const puppets: Puppet[] = Array.from({ length: PUPPETS }, (_, index) => {
    const salt = toHex(index + 1, { size: 32 })
    const address = create2Address(field.factory, BigInt(index + 1), fromHex(hostile.bytecode))
    const entryPoint = field.entryPoints[index % field.entryPoints.length]!
    return { salt, address, entryPoint }
  })
  const subjects: readonly Address[] = [
    ...puppets.map(({ address }) => address),
    ...field.paymasters,
    ...field.executors,
    ...field.entryPoints.map(({ address }) => address),
  ]

  const count = (name: string) => tally.set(name, (tally.get(name) ?? 0) + 1)

  const ask = async (url: string, method: string, params: unknown): Promise<RpcAnswer['body']> => {
    const { body } = await rpc(url, method, params)
    count(`${method} ${body.error?.code ?? 'ok'}`)
    if (body.error?.code === -32_603) internal.push(`${method}: ${JSON.stringify(params)}`)
    return body
  }

  /** Sends a transaction and does not wait for it; one that the node refuses is no matter. */
  const move = async (to: Address, data: Hex, value = 0n): Promise<void> => {
    const gasPrice = numberToHex(parseGwei(String(random.pick([3, 6, 20]))))
    const sent = { to, data, value: numberToHex(value), gasPrice }
    await field.transact(random.pick(field.attackers), sent).catch(() => {})
  }

  const draft = async ({ address, salt, entryPoint }: Puppet, head: Head): Promise<Operation> => {
    const program = (phase: Phase) => randomProgram(random, phase, subjects, head)
    const key = BigInt(random.below(3))
    const data = encodeFunctionData({ abi, functionName: 'getNonce', args: [address, key] })
    const [nonce, code]: [Hex, Hex] = await Promise.all([
      field.request('eth_call', { to: entryPoint.address, data }, 'latest'),
      field.request('eth_getCode', address, 'latest'),
    ])
    const maxPriorityFeePerGas = parseGwei(random.pick(['0.1', '2', '5', '10', '30']))
    const maxFeePerGas = maxPriorityFeePerGas + parseGwei(random.pick(['0', '1', '2', '5', '40']))
    const hasPaymaster = random.oneIn(3)
    return {
      sender: address,
      nonce: BigInt(nonce) + (random.oneIn(20) ? 1n : 0n),
      factory: code === '0x' ? field.factory : undefined,
      factoryData:
        code === '0x' ? makeCall(salt, random.oneIn(4) ? program('creation') : []) : '0x',
      callData: executeCall(program('execution')),
      callGasLimit: BigInt(random.pick([0, 100_000, 300_000, 1_000_000])),
      verificationGasLimit: BigInt(random.pick([100_000, 1_000_000, 2_000_000])),
      preVerificationGas: BigInt(random.pick([50_000, 80_000, 120_000, 200_000])),
      maxFeePerGas,
      maxPriorityFeePerGas,
      paymaster: hasPaymaster ? random.pick(field.paymasters) : undefined,
      paymasterVerificationGasLimit: hasPaymaster ? BigInt(random.pick([60_000, 300_000])) : 0n,
      paymasterPostOpGasLimit: hasPaymaster ? BigInt(random.pick([0, 30_000, 300_000])) : 0n,
      paymasterData: hasPaymaster ? sponsorData(program('sponsoring'), program('postOp')) : '0x',
      signature: encodeProgram(program('validation')),
      authorization: undefined,
    }
  }

  const withQuoted = (op: Operation, quoted: Quoted): Operation => {
    const quantity = (name: keyof Operation & string): bigint =>
      quoted[name] === undefined ? (op[name] as bigint) : BigInt(quoted[name])
    return {
      ...op,
      callGasLimit: quantity('callGasLimit'),
      verificationGasLimit: quantity('verificationGasLimit'),
      preVerificationGas: quantity('preVerificationGas'),
      paymasterVerificationGasLimit: quantity('paymasterVerificationGasLimit'),
      paymasterPostOpGasLimit: quantity('paymasterPostOpGasLimit'),
    }
  }

  /** The operation with the limits of an estimate, for those who take the trouble. */
  const estimated = async (op: Operation, { version, address }: EntryPoint): Promise<Operation> => {
    const params = [encodeOperation(op, version), address]
    const { result } = await ask(field.hostileUrl, 'eth_estimateUserOperationGas', params)
    return result === undefined ? op : withQuoted(op, result)
  }

  /** The operation paid by the honest app's tank: its key is in every page that it serves. */
  const sponsored = async (op: Operation, entryPoint: EntryPoint): Promise<Operation> => {
    const { version, address } = entryPoint
    const unpaid = { ...op, paymaster: undefined, paymasterData: '0x' as const }
    const params = [encodeOperation(unpaid, version), address, numberToHex(field.info.chainId), {}]
    const { result } = await ask(field.info.standardUrl, 'pm_getPaymasterData', params)
    return result === undefined ? op : paidBy(withQuoted(unpaid, result), result)
  }

  const paidBy = (op: Operation, quoted: Json): Operation => {
    const packed: Hex | undefined = quoted.paymasterAndData
    const paymaster: Address = packed ? (packed.slice(0, 42) as Address) : quoted.paymaster
    const paymasterData: Hex = packed ? `0x${packed.slice(42)}` : quoted.paymasterData
    return { ...op, paymaster, paymasterData }
  }

  const send = async (op: Operation, { version, address }: EntryPoint): Promise<boolean> => {
    const params = [encodeOperation(op, version), address]
    const url = random.oneIn(2) ? field.hostileUrl : field.info.standardUrl
    const { error } = await ask(url, 'eth_sendUserOperation', params)
    return error === undefined
  }

  /** The fees that the service advises. */
  const advised = async (): Promise<Pick<Operation, 'maxFeePerGas' | 'maxPriorityFeePerGas'>> => {
    const { result } = await ask(field.info.standardUrl, 'pimlico_getUserOperationGasPrice', [])
    const { maxFeePerGas, maxPriorityFeePerGas } = result.fast
    return {
      maxFeePerGas: BigInt(maxFeePerGas),
      maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
    }
  }

  /** Has the honest tank pay for an operation that burns gas, and carries it himself: the tip is his. */
  const cashOut = async (puppet: Puppet, head: Head): Promise<void> => {
    const { maxFeePerGas, maxPriorityFeePerGas } = await advised()
    const tip = maxPriorityFeePerGas * BigInt(1 + random.below(2))
    const amount = BigInt(random.pick([10, 500, 1_500]))
    const burn: Clause = { fact: 'always', act: 'log', amount }
    const op = {
      ...(await draft(puppet, head)),
      paymaster: undefined,
      callData: executeCall([burn]),
      callGasLimit: random.oneIn(4) ? 8_000_000n : 0n,
      verificationGasLimit: 0n,
      preVerificationGas: 0n,
      signature: encodeProgram([]),
      maxFeePerGas: maxFeePerGas + tip,
      maxPriorityFeePerGas: tip,
    }
    const paid = await sponsored(op, puppet.entryPoint)
    const { entryPoint } = puppet
    const attacker = random.pick(field.attackers)
    if (paid.paymaster) await move(entryPoint.address, entryPoint.encodeHandleOps([paid], attacker))
    if (paid.paymaster && random.oneIn(2)) await send(paid, entryPoint)
  }

  /** Asks at once for many sponsorships, most of which are refused. */
  const flood = async (puppet: Puppet, head: Head): Promise<void> => {
    const { version, address } = puppet.entryPoint
    const op = {
      ...(await draft(puppet, head)),
      paymaster: undefined,
      paymasterData: '0x' as const,
    }
    const url = random.oneIn(2) ? field.hostileUrl : field.info.standardUrl
    const asked = Array.from({ length: FLOOD }, (_, n) => {
      const each = encodeOperation({ ...op, nonce: op.nonce + (BigInt(n) << 64n) }, version)
      return ask(url, 'pm_sponsorUserOperation', [each, address, {}])
    })
    await Promise.all(asked)
  }

  const twins = createTwins(field, random)
  /** Authorizations of one account and nonce for several EntryPoints, at once. */
  const delegate = async (): Promise<void> => {
    const drafts = await twins.draft()
    const ready = await Promise.all(
      drafts.map(async ({ op, entryPoint }) => ({
        op: await estimated(op, entryPoint),
        entryPoint,
      })),
    )
    const taken = await Promise.all(ready.map(({ op, entryPoint }) => send(op, entryPoint)))
    count(`authorizations of one nonce accepted: ${taken.filter(Boolean).length}`)
    if (taken.some(Boolean) && random.oneIn(2)) await twins.raiseNonce(ready[0]!.op)
  }

  /** What the adversary does between the simulation of an accepted operation and its inclusion. */
  const betray = async (op: Operation, puppet: Puppet): Promise<void> => {
    const anyone = random.pick([op.sender, op.paymaster ?? op.sender])
    const execute = (program: readonly Clause[]) => move(anyone, executeCall(program))
    const subject = random.pick(field.attackers)
    switch (random.below(8)) {
      case 0:
        return setMood(anyone, BigInt(random.below(2)))
      case 1:
        return execute([{ fact: 'always', act: 'withdraw', subject: puppet.entryPoint.address }])
      case 2:
        return execute([{ fact: 'always', act: 'sendAll', subject }])
      case 3:
        return move(puppet.entryPoint.address, puppet.entryPoint.encodeHandleOps([op], subject))
      case 4: {
        const higherFees = {
          maxFeePerGas: op.maxFeePerGas * 2n,
          maxPriorityFeePerGas: op.maxPriorityFeePerGas * 2n,
        }
        await send({ ...op, ...higherFees }, puppet.entryPoint)
      }
    }
  }

  const setMood = (of: Address, mood: bigint) =>
    move(of, encodeFunctionData({ abi: hostile.abi, functionName: 'setMood', args: [mood] }))

  const attack = async (): Promise<void> => {
    const puppet = random.pick(puppets)
    const { number, timestamp } = await field.request('eth_getBlockByNumber', 'latest', false)
    const head = { number: Number(number), timestamp: Number(timestamp) }
    if (random.oneIn(8)) return cashOut(puppet, head)
    if (random.oneIn(30)) return flood(puppet, head)
    let op = await draft(puppet, head)
    if (random.oneIn(2)) op = await estimated(op, puppet.entryPoint)
    if (random.oneIn(3)) op = await sponsored(op, puppet.entryPoint)
    if (await send(op, puppet.entryPoint)) await betray(op, puppet)
  }

  /** Gives every puppet and twin a deposit of its own. */
  const prepare = async (): Promise<void> => {
    for (const { address, entryPoint } of puppets) {
      const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [address] })
      await move(entryPoint.address, data, 10n ** 18n)
    }
    await twins.prepare()
  }

  const fill = (): Promise<void> => {
    const { address, entryPoint } = random.pick(puppets)
    const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [address] })
    return move(entryPoint.address, data, 10n ** 17n)
  }

  return {
    tally,
    /** Requests that were answered with -32603; there must be none. */
    internal,
    prepare,
    act: (): Promise<void> => {
      if (random.oneIn(6)) return fill()
      if (random.oneIn(8))
        return setMood(random.pick(subjects.slice(0, PUPPETS + 2)), BigInt(random.below(2)))
      return random.oneIn(6) ? delegate() : attack()
    },
  }
}
