import { type Address, concatHex, type Hex, http, sliceHex } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  entryPoint08Abi,
  type SmartAccount,
  type UserOperation,
} from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { carryPastService } from '../support/service/carryPastService.js'
import { TARGET } from '../support/service/devAccount.js'
import { nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * The attacker asks for one sponsorship, gives the signed data another form, so that the operation gets
 * another userOpHash, and carries it to the chain himself. A tank takes one form only.
 */

const purser = useRunningPurser()

/** Bytes of the time range in front of the tank's signature. */
const RANGE_BYTES = 12
/** Length of a paymasterSignature (65) and the magic value by which v0.9 knows one. */
const SIGNATURE_SUFFIX: Hex = '0x004122e325a297439656'

async function sponsoredOperation(account: SmartAccount) {
  const { info } = purser()
  const client = createBundlerClient({
    chain: foundry,
    client: nodeClient(info),
    transport: http(info.standardUrl),
    paymaster: createPaymasterClient({ transport: http(info.standardUrl) }),
    paymasterContext: { mode: 'SPONSORED' },
  })
  const calls = [{ to: TARGET, value: 0n, data: '0x' as Hex }]
  const { account: _, ...operation } = await client.prepareUserOperation({ account, calls })
  return operation as UserOperation<'0.7'>
}

/**
 * The same sponsorship with the marker of a paymasterSignature behind the tank's signature. On v0.9 the
 * EntryPoint then leaves that signature out of the hash.
 */
function inOtherForm(operation: UserOperation<'0.7'>, version: Version): UserOperation<'0.7'> {
  const { paymasterData = '0x', ...others } = operation
  if (version !== '0.9')
    return { ...others, paymasterData: concatHex([paymasterData, SIGNATURE_SUFFIX]) }
  const paymasterSignature = sliceHex(paymasterData, RANGE_BYTES)
  return {
    ...others,
    paymasterData: sliceHex(paymasterData, 0, RANGE_BYTES),
    paymasterSignature,
  } as UserOperation<'0.7'>
}

describe.each(['0.7', '0.8', '0.9'] as const)('EntryPoint v%s', (version) => {
  const changedOperation = async (seed: string) => {
    const account = await simpleSmartAccount(purser().info, version, `${seed} ${version}`)
    const known = await sponsoredOperation(account)
    const changed = inOtherForm(known, version)
    const signature = await account.signUserOperation(changed)
    return { account, known, changed: { ...changed, signature } }
  }

  test('an operation under a second hash is not paid for: the attacker gains 0 wei, the tank loses 0', async () => {
    const { info } = purser()
    const { account, known, changed } = await changedOperation('bound form')
    const { address } = account.entryPoint
    const depositOf = () =>
      nodeClient(info).readContract({
        address,
        abi: entryPoint08Abi,
        functionName: 'balanceOf',
        args: [info.tanks[version] as Address],
      })
    const before = await depositOf()
    await expect(carryPastService(info, changed, address)).rejects.toThrow(/AA34 signature error/)
    expect(before - (await depositOf())).toBe(0n)
    const signature = await account.signUserOperation(known)
    const event = await carryPastService(info, { ...known, signature }, address)
    expect(before - (await depositOf())).toBe(event.actualGasCost)
  })
})
