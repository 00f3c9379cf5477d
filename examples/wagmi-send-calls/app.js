import {
  connect,
  createConfig,
  getConnectors,
  http,
  sendCalls,
  waitForCallsStatus,
  watchConnectors,
} from '@wagmi/core'
import { foundry } from 'viem/chains'
import { announceDevelopmentWallet } from './developmentWallet.js'

const { VITE_RPC_URL: rpcUrl, VITE_PURSER_URL: purserUrl } = import.meta.env
const [wallets, send, result] = ['wallets', 'send', 'result'].map((id) =>
  document.getElementById(id),
)
const config = createConfig({
  chains: [foundry],
  transports: { [foundry.id]: http(rpcUrl) },
  // Forgets the wallet when the page is closed.
  storage: null,
})

// One button for each wallet that the browser has (EIP-6963).
function showWallets(connectors) {
  wallets.replaceChildren(
    ...connectors.map((connector) => {
      const button = document.createElement('button')
      button.textContent = `Connect ${connector.name}`
      button.onclick = async () => {
        await connect(config, { connector, chainId: foundry.id })
        send.disabled = false
      }
      return button
    }),
  )
}
watchConnectors(config, { onChange: showWallets })
showWallets(getConnectors(config))
announceDevelopmentWallet({ rpcUrl, bundlerUrl: purserUrl })

send.onclick = async () => {
  send.disabled = true
  result.textContent = 'sending'
  try {
    const { id } = await sendCalls(config, {
      calls: [
        { to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' },
        { to: '0x0000000000000000000000000000000000000b0b', data: '0x5678' },
      ],
      // The wallet asks this URL to pay (ERC-7677). It is the whole integration of the app.
      capabilities: { paymasterService: { url: purserUrl } },
    })
    const { status, receipts } = await waitForCallsStatus(config, { id, pollingInterval: 200 })
    result.textContent = [
      `success ${status === 'success'}`,
      `operation ${id}`,
      `transaction ${receipts[0].transactionHash}`,
    ].join('\n')
  } catch (error) {
    result.textContent = error.message
  } finally {
    send.disabled = false
  }
}
