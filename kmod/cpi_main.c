// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_main.c - /dev/cpi, loading and unloading
 *
 * A user who may sample the whole system with perf may use the device; a descriptor
 * that is passed on gives no rights. The tables of windows decide which memory of any
 * process is read, so writing them also takes CAP_SYS_PTRACE. Arguments are copied
 * before cpi.lock is taken, results after it is released: a fault in a copy takes the
 * lock of the memory map, inside which mmap() takes cpi.lock.
 */
#include <linux/capability.h>
#include <linux/cpuhotplug.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/uaccess.h>

#include "kmod/cpi.h"

struct cpi_device cpi = {
	.lock = __MUTEX_INITIALIZER(cpi.lock),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(cpi.wait),
};

static int cpi_open(struct inode *inode, struct file *file)
{
	int err = 0;

	if (!perfmon_capable())
		return -EPERM;
	mutex_lock(&cpi.lock);
	if (cpi.open)
		err = -EBUSY;
	cpi.open = true;
	mutex_unlock(&cpi.lock);
	return err ? err : stream_open(inode, file);
}

static int cpi_release(struct inode *inode, struct file *file)
{
	mutex_lock(&cpi.lock);
	cpi_counter_close();
	cpi_window_close();
	cpi.open = false;
	mutex_unlock(&cpi.lock);
	return 0;
}

static int cpi_mmap(struct file *file, struct vm_area_struct *vma)
{
	const bool windows = vma->vm_pgoff == CPI_KMOD_WINDOWS_AT >> PAGE_SHIFT;
	int err;

	if (!perfmon_capable() || (windows && !capable(CAP_SYS_PTRACE)))
		return -EPERM;
	mutex_lock(&cpi.lock);
	if (windows)
		err = cpi_window_mmap(vma);
	else
		err = cpi_buffer_mmap(vma);
	mutex_unlock(&cpi.lock);
	return err;
}

static __poll_t cpi_poll(struct file *file, poll_table *table)
{
	__poll_t events = 0;

	poll_wait(file, &cpi.wait, table);
	mutex_lock(&cpi.lock);
	for (unsigned int i = 0; i < nr_cpu_ids && !events; i++) {
		if (cpi.cpus[i] && cpi_flush_is_due(cpi.cpus[i]))
			events = EPOLLIN | EPOLLRDNORM;
	}
	mutex_unlock(&cpi.lock);
	return events;
}

/* ---- ioctls ---- */

union argument {
	struct cpi_kmod_flush flush;
	struct cpi_kmod_period period;
	struct cpi_kmod_counts counts;
	struct cpi_kmod_stats stats;
	struct cpi_kmod_exec_id exec_id;
	struct cpi_kmod_windows windows;
	u32 on;
};

/*
 * exec holds exec_update_lock while it changes the memory map, reports the exec to perf
 * and increments the exec id. So all three happen before when_ns, or all after it.
 */
static int get_exec_id(struct cpi_kmod_exec_id *e)
{
	struct pid *pid = find_get_pid(e->tgid);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	int err = -EBUSY;

	put_pid(pid);
	if (!task)
		return -ESRCH;
	if (down_read_trylock(&task->signal->exec_update_lock)) {
		e->exec_id = task->self_exec_id;
		e->when_ns = ktime_get_ns();
		up_read(&task->signal->exec_update_lock);
		err = 0;
	}
	put_task_struct(task);
	return err;
}

static int call(unsigned int cmd, union argument *a)
{
	switch (cmd) {
	case CPI_KMOD_IOC_START:
		return cpi_counter_start();
	case CPI_KMOD_IOC_STOP:
		cpi_counter_stop();
		return 0;
	case CPI_KMOD_IOC_FLUSH:
		return cpi_flush(&a->flush);
	case CPI_KMOD_IOC_PERIOD:
		return cpi_counter_set_period(&a->period);
	case CPI_KMOD_IOC_COUNTS:
		return cpi_counter_counts(&a->counts);
	case CPI_KMOD_IOC_STATS:
		return cpi_counter_stats(&a->stats);
	case CPI_KMOD_IOC_EXEC_ID:
		return get_exec_id(&a->exec_id);
	case CPI_KMOD_IOC_WINDOWS:
		return cpi_window_configure(&a->windows);
	case CPI_KMOD_IOC_FOLLOW:
		return cpi_window_switch(a->on);
	}
	return -ENOTTY;
}

/* Not part of call(): the argument is large, and is written back even on failure. */
static int configure(void __user *arg)
{
	struct cpi_kmod_config *config = memdup_user(arg, sizeof(*config));
	int err;

	if (IS_ERR(config))
		return PTR_ERR(config);
	/* Takes the hotplug lock, so before cpi.lock. */
	if (config->flags & CPI_KMOD_TIMED)
		static_branch_enable(&cpi_timed);
	else
		static_branch_disable(&cpi_timed);
	mutex_lock(&cpi.lock);
	err = cpi_counter_configure(config);
	mutex_unlock(&cpi.lock);
	if (copy_to_user(arg, config, sizeof(*config)) && !err)
		err = -EFAULT;
	kfree(config);
	return err;
}

static int get_followed(void __user *arg)
{
	struct cpi_kmod_followed *followed = kzalloc(sizeof(*followed), GFP_KERNEL);
	int err;

	if (!followed)
		return -ENOMEM;
	mutex_lock(&cpi.lock);
	err = cpi_window_followed(followed);
	mutex_unlock(&cpi.lock);
	if (!err && copy_to_user(arg, followed, sizeof(*followed)))
		err = -EFAULT;
	kfree(followed);
	return err;
}

/*
 * A handler runs with interrupts off, or as an NMI. So after a CPU has answered an IPI,
 * no earlier handler runs on it; the IPI also orders the handler's reads and writes.
 */
static void answer(void *unused)
{
}

static long cpi_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	union argument a = {};
	int err;

	if (!perfmon_capable() ||
	    (cmd == CPI_KMOD_IOC_WINDOWS && !capable(CAP_SYS_PTRACE)))
		return -EPERM;
	if (cmd == CPI_KMOD_IOC_CONFIGURE)
		return configure(user);
	if (cmd == CPI_KMOD_IOC_FOLLOWED)
		return get_followed(user);
	if (cmd == CPI_KMOD_IOC_SYNCHRONIZE) {
		on_each_cpu(answer, NULL, 1);
		return 0;
	}
	if (_IOC_TYPE(cmd) != _IOC_TYPE(CPI_KMOD_IOC_START) ||
	    _IOC_SIZE(cmd) > sizeof(a))
		return -ENOTTY;
	if (_IOC_DIR(cmd) & _IOC_WRITE && copy_from_user(&a, user, _IOC_SIZE(cmd)))
		return -EFAULT;
	mutex_lock(&cpi.lock);
	err = call(cmd, &a);
	mutex_unlock(&cpi.lock);
	if (!err && _IOC_DIR(cmd) & _IOC_READ && copy_to_user(user, &a, _IOC_SIZE(cmd)))
		err = -EFAULT;
	return err;
}

static const struct file_operations cpi_fops = {
	.owner = THIS_MODULE,
	.open = cpi_open,
	.release = cpi_release,
	.mmap = cpi_mmap,
	.poll = cpi_poll,
	.unlocked_ioctl = cpi_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice cpi_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cpi",
	.fops = &cpi_fops,
	.mode = 0600,
};

/* ---- suspending the machine: both calls are made while all CPUs are online ---- */

static int cpi_sleep(struct notifier_block *block, unsigned long what, void *unused)
{
	mutex_lock(&cpi.lock);
	switch (what) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		cpi_counter_suspend();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		cpi_counter_resume();
		break;
	}
	mutex_unlock(&cpi.lock);
	return NOTIFY_DONE;
}

static struct notifier_block cpi_sleep_block = { .notifier_call = cpi_sleep };

/* ---- loading ---- */

static int hotplug_state;

static int __init cpi_init(void)
{
	int err;

	cpi.cpus = kcalloc(nr_cpu_ids, sizeof(*cpi.cpus), GFP_KERNEL);
	if (!cpi.cpus)
		return -ENOMEM;
	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "cpi:online",
					  cpi_cpu_online, cpi_cpu_offline);
	if (hotplug_state < 0) {
		err = hotplug_state;
		goto free;
	}
	err = register_pm_notifier(&cpi_sleep_block);
	if (err)
		goto remove;
	err = misc_register(&cpi_misc);
	if (err)
		goto unregister;
	return 0;
unregister:
	unregister_pm_notifier(&cpi_sleep_block);
remove:
	cpuhp_remove_state(hotplug_state);
free:
	kfree(cpi.cpus);
	return err;
}

/* An open device holds the module, so nothing is configured any more. */
static void __exit cpi_exit(void)
{
	misc_deregister(&cpi_misc);
	unregister_pm_notifier(&cpi_sleep_block);
	cpuhp_remove_state(hotplug_state);
	kfree(cpi.cpus);
}

module_init(cpi_init);
module_exit(cpi_exit);

MODULE_DESCRIPTION("CPI: samples of the whole system, counted in the kernel");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
