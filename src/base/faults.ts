/**
 * Named steps at which a test lets the process die or stand still, to prove that what was promised survives.
 * `PURSER_FAULT=bundle:committed` kills at the first passing of that step,
 * `PURSER_FAULT=bundle:committed:3` at the third; `PURSER_FAULT=stop bundle:committed` stops it until
 * SIGCONT. Only the environment of the process arms one, so no request can; unarmed, a step costs a
 * comparison.
 *
 * - `migration:applied`: schema changed, not committed; `start:migrated`: committed.
 * - `index:catching-up`: about to read a range of blocks; `index:began`: first head stored.
 * - `admission:simulated`: valid, not decided; `admission:inserting`: decided, not stored;
 *   `admission:committed`: not acknowledged.
 * - `sponsorship:signed`: not reserved; `sponsorship:reserved`: not committed;
 *   `sponsorship:committed`: not answered.
 * - `bundle:simulated`: not signed; `bundle:claimed`: signed, not committed; `bundle:committed`.
 * - `broadcast:before`, `broadcast:after`: around eth_sendRawTransaction.
 * - `resubmission:committed`: a transaction with higher fees stored, not sent.
 * - `receipts:read`: of ours, not stored; `inclusion:settled`: not committed; `inclusion:committed`.
 * - `reorg:undone`: inclusions taken back, the new chain not read yet.
 */
export type FaultPoint =
  | 'migration:applied'
  | 'start:migrated'
  | 'index:began'
  | 'index:catching-up'
  | 'admission:simulated'
  | 'admission:inserting'
  | 'admission:committed'
  | 'sponsorship:signed'
  | 'sponsorship:reserved'
  | 'sponsorship:committed'
  | 'bundle:simulated'
  | 'bundle:claimed'
  | 'bundle:committed'
  | 'broadcast:before'
  | 'broadcast:after'
  | 'resubmission:committed'
  | 'receipts:read'
  | 'inclusion:settled'
  | 'inclusion:committed'
  | 'reorg:undone'

/** The value of PURSER_FAULT; undefined in every ordinary process. */
export const armedFault: string | undefined = process.env.PURSER_FAULT || undefined

const [, stop, armedPoint, passing = '1'] =
  /^(stop )?(.+?)(?::(\d+))?$/.exec(armedFault ?? '') ?? []
let remaining = Number(passing)

/** Ends the process at once, without any clean-up, or stops it, when this step is the armed one. */
export function faultPoint(point: FaultPoint): void {
  if (point !== armedPoint) return
  remaining -= 1
  // The signal arrives before kill() returns: nothing after this line runs.
  if (remaining === 0) process.kill(process.pid, stop ? 'SIGSTOP' : 'SIGKILL')
}
