import { createRoot } from 'react-dom/client'
import { GaslessButton } from './GaslessButton.jsx'

const { VITE_RPC_URL: rpcUrl, VITE_PURSER_URL: purserUrl } = import.meta.env
const calls = [{ to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' }]

createRoot(document.getElementById('app')).render(
  <main>
    <h1>Gasless button</h1>
    <GaslessButton rpcUrl={rpcUrl} purserUrl={purserUrl} calls={calls}>
      Collect the point
    </GaslessButton>
  </main>,
)
