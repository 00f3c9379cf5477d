import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { result } from '../support/http/jsonRpc.js'
import { nodeKind } from '../support/nodes/nodeKind.js'
import { devAccount } from '../support/service/devAccount.js'
import { usePurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/* `npm run bench:load` does this on anvil, with figures. */

const SENDERS = 10
const EACH = 12
const info = usePurser()

test.runIf(nodeKind() !== 'anvil')(
  `${SENDERS * EACH} operations of ${SENDERS} senders at once are all included`,
  { timeout: 300_000 },
  async () => {
    const seeds = Array.from({ length: SENDERS }, (_, at) => `load ${at}`)
    const accounts = await Promise.all(seeds.map((seed) => devAccount(info(), seed)))
    const receipt = (hash: Hex) => result(info().standardUrl, 'eth_getUserOperationReceipt', [hash])
    // The first creates the account: the others may then come in any order.
    for (const account of accounts) {
      const hash = await account.send(await account.selfPaid())
      await until(() => receipt(hash))
    }
    const sent = await Promise.all(
      accounts.flatMap((account) =>
        Array.from({ length: EACH }, async (_, at) =>
          account.send(await account.selfPaid(undefined, BigInt(at + 1))),
        ),
      ),
    )
    // One after the other: a hundred that ask every 10 ms would be the greater load.
    const receipts = []
    for (const hash of sent) receipts.push(await until(() => receipt(hash)))
    expect(receipts.every(({ success }) => success)).toBe(true)
    expect(new Set(sent).size).toBe(SENDERS * EACH)
    const bundles = new Set(receipts.map((each) => each.receipt.transactionHash))
    expect(bundles.size).toBeLessThan(sent.length)
  },
)
