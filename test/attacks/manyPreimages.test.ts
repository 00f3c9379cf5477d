import { concatHex, numberToHex, toHex } from 'viem'
import { expect, test } from 'vitest'
import { rpc } from '../support/http/jsonRpc.js'
import { hostileAccount } from '../support/service/hostileAccount.js'
import { processorSecondsOf } from '../support/service/processUse.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * The attacker's account calls a contract that hashes the account's address with 20,000 words and reads as
 * many transient slots, which none of the hashes is near. Each slot was compared with each hash, several
 * times: 400 million comparisons for one operation that costs its sender nothing.
 */

const purser = useRunningPurser()

const ROUNDS = 20_000
/** Seconds of the processor; ten times what the operation takes, most of it the run itself. */
const BOUND = 6

/** Memory: the caller's address, then a counter; each round raises it, reads its slot and hashes both. */
const hashing = concatHex([
  '0x335f52', // CALLER PUSH0 MSTORE
  '0x5b602051600101806020525c50', // JUMPDEST: counter + 1, stored; TLOAD POP
  '0x60405f2050', // KECCAK256 of both POP
  '0x60205162', // counter PUSH3
  numberToHex(ROUNDS, { size: 3 }),
  '0x1160035700', // GT PUSH1 3 JUMPI STOP
])

test('slots and hashes of one validation are not compared one by one', async () => {
  const { info } = purser()
  const helper = await hostileAccount(info, 'hashing', hashing)
  // CALL of the helper with all gas, then 32 zero bytes: a valid signature.
  const code = concatHex(['0x5f5f5f5f5f73', helper.sender, '0x5af1505f5f5260205ff3'])
  const { operation } = await hostileAccount(info, 'hashes much', code)
  const entryPoint = info.entryPoints['0.7']
  const send = async () => {
    const limited = { ...operation, verificationGasLimit: toHex(5_000_000) }
    const { body } = await rpc(info.standardUrl, 'eth_sendUserOperation', [limited, entryPoint])
    // A staked account may read what others own; others are refused for each slot.
    expect(body.error).toBeUndefined()
  }
  expect(await processorSecondsOf(info.pid, send)).toBeLessThan(BOUND)
})
