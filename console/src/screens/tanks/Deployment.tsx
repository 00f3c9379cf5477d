import { useChanges } from '../../api/changes.js'
import { chainName } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import type { Page, Tank, TankStep } from '../../api/shapes.js'
import { accountOf, includedBy, sendBy, type Wallet } from '../../api/wallets.js'
import { Code } from '../../parts/Code.js'
import { Dialog } from '../../parts/Dialog.js'
import { shortOf } from '../../parts/format.js'
import { TroubleBanner } from '../../parts/TroubleBanner.js'
import { toast } from '../../parts/toasts.js'
import { useOpen } from '../../parts/useOpen.js'
import { WalletActs, type WalletCourse } from '../../parts/WalletActs.js'
import { creationStep } from './transfers.js'

type DeploymentProps = { readonly tank: Tank; readonly version: string; onDone(): void }

/** Whether the tank is on the chain; where it is not, the way there. */
export function Deployment({ tank, version, onDone }: DeploymentProps) {
  const path = `/apps/${tank.appId}/tanks/${tank.id}/deployment`
  const query = useQuery<Page<TankStep>>(path)
  const deploying = useOpen()
  const steps = query.data?.items ?? []
  // Somebody else may put it there too.
  useChanges(query.refresh, steps.length > 0)
  return (
    <>
      <TroubleBanner trouble={query.trouble} onRetry={query.refresh} />
      {steps.length > 0 && (
        <div class="warn stack">
          <p>
            <strong>Not deployed yet.</strong> Its address is certain, so that it can be filled
            already; it sponsors nothing until its contract is there. Anybody can put it there.
          </p>
          <p>
            <button type="button" onClick={deploying.open}>
              Deploy it…
            </button>
          </p>
        </div>
      )}
      {deploying.isOpen && (
        <DeployDialog
          tank={tank}
          version={version}
          steps={steps}
          onDone={() => {
            query.refresh()
            onDone()
          }}
          onClose={deploying.close}
        />
      )}
    </>
  )
}

const names = {
  factory: 'The factory of tanks, which this chain does not have yet',
  code: 'The code that tanks of this EntryPoint share',
  tank: 'The tank itself',
} as const

type DeployDialogProps = DeploymentProps & {
  readonly steps: readonly TankStep[]
  onClose(): void
}

function DeployDialog({ tank, version, steps, onDone, onClose }: DeployDialogProps) {
  const send = async (wallet: Wallet, { progress, abort }: WalletCourse): Promise<void> => {
    const transfers = steps.map((step) => creationStep(step, tank.owner))
    const from = await accountOf(wallet)
    for (const [index, transfer] of transfers.entries()) {
      const hash = await sendBy(wallet, { ...transfer, from, chainId: tank.chainId })
      progress(`Sent ${shortOf(hash)}, ${index + 1} of ${transfers.length}, waiting for its block…`)
      await includedBy(wallet, hash, abort)
    }
    toast('The tank is deployed')
    onDone()
    onClose()
  }
  return (
    <Dialog title={`Deploy tank ${shortOf(tank.address)}`} onClose={onClose}>
      <div class="form">
        <section class="plan" aria-label="What will happen">
          <p>
            The wallet sends{' '}
            {steps.length === 1
              ? 'one transaction, which moves'
              : `${steps.length} transactions, which move`}{' '}
            no money, on {chainName(tank.chainId)}. The wallet pays for the gas.
          </p>
          <ol class="steps">
            {steps.map((step) => (
              <li key={step.puts}>
                {names[step.puts]}, by a call of <code>{shortOf(step.to)}</code>
                <details>
                  <summary>{step.data.length / 2 - 1} bytes</summary>
                  <Code what="the data" text={step.data} />
                </details>
              </li>
            ))}
          </ol>
        </section>
        <WalletActs
          act="Send by"
          isReady={steps.length > 0}
          otherwise="Install one, or let the operator run this command."
          run={send}
        />
        <details>
          <summary>As a command</summary>
          <Code
            what="the command"
            text={`purser tank create --app ${tank.appId} --chain ${tank.chainId} --entry-point ${version.replace(/^v/, '')} --key env:PAYER`}
          />
        </details>
      </div>
    </Dialog>
  )
}
