import { createRequire } from 'node:module'
import { type Address, http } from 'viem'
import { createBundlerClient } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { beforeAll, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { type Json, result } from '../support/http/jsonRpc.js'
import { TARGET } from '../support/service/devAccount.js'
import { fund, nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'
import { etherspotFamily } from './support/etherspotFamily.js'
import { etherspotModular, placeEtherspotModular } from './support/placeEtherspot.js'

/*
 * A user of Etherspot who changes the URL of the bundler: the modular SDK as it is. Of what it loads, bridges and
 * WalletConnect are left out by overrides. Its paymaster is Arka's, which speaks no JSON-RPC; before an account
 * exists it asks the bundler's URL for eth_estimateGas, which is not served.
 */

const load = createRequire(import.meta.url)
const info = usePurser()
const SEED = 'etherspot sdk'

beforeAll(() => placeEtherspotModular(info().rpcUrl))

function open() {
  const { ModularSdk, GenericBundler } = load('@etherspot/modular-sdk') as Json
  const wallet = { privateKey: keyFromSeed(SEED) }
  return new ModularSdk(wallet, {
    chainId: info().chainId,
    rpcProviderUrl: info().rpcUrl,
    bundlerProvider: new GenericBundler(info().standardUrl),
    entryPointAddress: info().entryPoints['0.7'],
    walletFactoryAddress: etherspotModular.metaFactoryAddress,
  })
}

/** Creates the account by an operation of another client. */
async function create(): Promise<Address> {
  const modular = etherspotFamily.kinds(info).find(({ version }) => version === '0.7')!
  const account = await modular.open(SEED)
  await fund(info(), account.address)
  const client = createBundlerClient({
    chain: foundry,
    client: nodeClient(info()),
    pollingInterval: 100,
    transport: http(info().standardUrl),
  })
  const hash = await client.sendUserOperation({ account, calls: [{ to: TARGET, data: '0x12' }] })
  await client.waitForUserOperationReceipt({ hash })
  return account.address
}

test('the modular SDK pays for itself: an operation, and a batch', async () => {
  const address = await create()
  const sdk = open()
  expect(await sdk.getCounterFactualAddress()).toBe(address)
  for (const count of [1, 3]) {
    await sdk.clearUserOpsFromBatch()
    for (let at = 0; at < count; at++)
      await sdk.addUserOpsToBatch({ to: TARGET, data: `0x123${at}` })
    const operation = await sdk.estimate()
    const hash: string = await sdk.send(operation)
    const receipt: Json = await until(() => sdk.getUserOpReceipt(hash))
    expect(receipt).toMatchObject({ success: true, userOpHash: hash })
    expect(receipt.sender.toLowerCase()).toBe(address.toLowerCase())
    const { userOperation } = await result(info().standardUrl, 'eth_getUserOperationByHash', [hash])
    for (const limit of ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'])
      expect(BigInt(userOperation[limit])).toBe(BigInt(operation[limit]))
  }
})
