import { useState } from 'react'
import { createPublicClient, http } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  toSimple7702SmartAccount,
} from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { getCode, signAuthorization } from 'viem/actions'
import { foundry } from 'viem/chains'

/** A key of this browser. An app with money in its accounts would use a passkey or a wallet. */
function browserKey() {
  const key = localStorage.getItem('key') ?? generatePrivateKey()
  localStorage.setItem('key', key)
  return privateKeyToAccount(key)
}

async function sendGasless({ rpcUrl, purserUrl, calls }) {
  const client = createPublicClient({ chain: foundry, transport: http(rpcUrl) })
  const account = await toSimple7702SmartAccount({ client, owner: browserKey() })
  const bundler = createBundlerClient({
    client,
    transport: http(purserUrl),
    paymaster: createPaymasterClient({ transport: http(purserUrl) }),
    pollingInterval: 200,
  })
  const isNew = (await getCode(client, account)) === undefined
  const authorization = isNew ? await signAuthorization(client, account.authorization) : undefined
  const hash = await bundler.sendUserOperation({ account, calls, authorization })
  return bundler.waitForUserOperationReceipt({ hash })
}

/** A button that sends `calls` for the user, who needs no wallet and no ether. */
export function GaslessButton({ children, ...request }) {
  const [state, setState] = useState({ kind: 'ready' })
  const send = async () => {
    setState({ kind: 'sending' })
    try {
      setState({ kind: 'sent', ...(await sendGasless(request)) })
    } catch (error) {
      setState({ kind: 'failed', reason: error.shortMessage ?? error.message })
    }
  }
  return (
    <>
      <button type="button" onClick={send} disabled={state.kind === 'sending'}>
        {state.kind === 'sending' ? 'Sending …' : children}
      </button>
      {state.kind === 'failed' && <p role="alert">{state.reason}</p>}
      {state.kind === 'sent' && (
        <pre>
          <output>
            {`success ${state.success}\noperation ${state.userOpHash}\ntransaction ${state.receipt.transactionHash}`}
          </output>
        </pre>
      )}
    </>
  )
}
