import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { toast } from '../../parts/toasts.js'
import { useOpen } from '../../parts/useOpen.js'

type CancelProps = { readonly chainId: number; readonly hash: string; onDone(): void }

/** Takes back an operation that waits in the pool. */
export function Cancel({ chainId, hash, onDone }: CancelProps) {
  const asking = useOpen()
  const path = `/operations/${chainId}/${hash}/cancel`
  return (
    <>
      <ActButton needs="developer" onClick={asking.open}>
        Cancel the operation
      </ActButton>
      {asking.isOpen && (
        <ActionDialog
          title="Cancel the operation"
          act="Cancel it"
          look="danger"
          codes={[
            ['curl', curl(path, 'POST', {})],
            ['command', `purser operation cancel ${hash}`],
          ]}
          run={async () => {
            await call('POST', path, { body: {} })
            toast('Cancelled: Purser does not send it')
            onDone()
          }}
          onClose={asking.close}
        >
          <p class="warn">
            Purser drops it, with those of the same sender that wait behind it. Its signature stays
            valid: anyone else who has it can still submit it until the account uses its nonce
            otherwise.
          </p>
        </ActionDialog>
      )}
    </>
  )
}
