/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only C++ in CPI: LLVM has no C interface to scheduling models. Everything
 * that can be said in C is in isa.c.
 *
 * Two subtargets are at work: one that has every extension decodes and prints,
 * for a profile may show code that the modelled CPU cannot run; one of a CPU
 * simulates.
 */
#include "config.h"

#include "analysis/isa/llvm.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/MCA/Context.h"
#include "llvm/MCA/CustomBehaviour.h"
#include "llvm/MCA/HWEventListener.h"
#include "llvm/MCA/InstrBuilder.h"
#include "llvm/MCA/Pipeline.h"
#include "llvm/MCA/SourceMgr.h"
#include "llvm/MCA/Stages/Stage.h"
#include "llvm/MCA/Support.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

/* Their header is not among those that are installed. */
extern "C" {
void LLVMInitializeX86TargetInfo(void);
void LLVMInitializeX86TargetMC(void);
void LLVMInitializeX86Disassembler(void);
void LLVMInitializeX86TargetMCA(void);
void LLVMInitializeAArch64TargetInfo(void);
void LLVMInitializeAArch64TargetMC(void);
void LLVMInitializeAArch64Disassembler(void);
}

/* Variants of instructions that the builder remembers until it forgets them all. */
#define MAX_REMEMBERED (1u << 18)

/* Cycles in which nothing retires: more than anything takes. */
#define PATIENCE 10000

namespace
{

/* A target, how to print its code, and instructions that stand in for others. */
struct Machine {
	const char *triple, *features;
	unsigned int dialect;
	/* What stands in for calls and returns, which LLVM does not model. */
	const char *call, *call_register, *call_memory, *ret;
	const char *link; /* register that call writes, or what ret pops into */
};

const Machine x86_64 = {
	"x86_64-unknown-linux-gnu",
	"",
	1,
	"PUSH64i32",
	"PUSH64r",
	"PUSH64rmm",
	"POP64r",
	"RIP",
};

const Machine aarch64 = {
	"aarch64-unknown-linux-gnu", "+all", 0, "ADR", "ADDXri", nullptr, "BR", "LR",
};

/* A CPU's model and what is built on it. */
struct Model {
	std::unique_ptr<MCSubtargetInfo> sti;
	std::unique_ptr<mca::InstrumentManager> instruments;
	std::unique_ptr<mca::InstrPostProcess> post;
	std::unique_ptr<mca::InstrBuilder> builder;
	SmallVector<uint64_t> unit_mask;
	unsigned int remembered = 0;
};

} // namespace

struct llvm_isa {
	const Machine *machine;
	const Target *target;
	Triple triple;
	std::unique_ptr<MCRegisterInfo> registers;
	std::unique_ptr<MCAsmInfo> assembler;
	std::unique_ptr<MCInstrInfo> instructions;
	std::unique_ptr<MCSubtargetInfo> everything;
	std::unique_ptr<MCContext> context;
	std::unique_ptr<MCDisassembler> disassembler;
	std::unique_ptr<MCInstPrinter> printer;
	std::unique_ptr<MCInstrAnalysis> analysis;
	std::vector<isa_registers> canonical; /* of each of LLVM's registers */
	unsigned int call, call_register, call_memory, ret, link;
	Model model;
};

static void add_register(isa_registers *set, unsigned int reg)
{
	set->bit[reg / 64] |= 1ULL << reg % 64;
}

static void add_registers(isa_registers *set, const isa_registers &more)
{
	set->bit[0] |= more.bit[0];
	set->bit[1] |= more.bit[1];
}

static bool is_none(const isa_registers &set)
{
	return !set.bit[0] && !set.bit[1];
}

static unsigned int first_register(const isa_registers &set)
{
	for (unsigned int i = 0; i < ISA_NR_REGISTERS; i++)
		if (isa_has(&set, i))
			return i;
	return ISA_NONE;
}

/* "ZMM" and a number; 32 when name is not so. */
static unsigned int numbered(StringRef name, StringRef prefix)
{
	unsigned int n;

	return name.consume_front(prefix) && !name.getAsInteger(10, n) && n < 32 ? n
										 : 32;
}

/* Of the widest registers: their number; of parts and tuples: ISA_NONE. */
static unsigned int root_x86_64(StringRef name, unsigned int encoding)
{
	static const char *const general[] = { "RAX", "RCX", "RDX", "RBX",
					       "RSP", "RBP", "RSI", "RDI" };

	for (unsigned int i = 0; i < 8; i++)
		if (name == general[i])
			return ISA_GENERAL + i;
	if (numbered(name, "R") < 32)
		return ISA_GENERAL + encoding % 32;
	if (numbered(name, "ZMM") < 32)
		return ISA_VECTOR + numbered(name, "ZMM");
	if (numbered(name, "K") < 32)
		return ISA_MASK + numbered(name, "K");
	if (name == "EFLAGS")
		return ISA_FLAGS;
	if (name == "RIP")
		return ISA_PC;
	if (numbered(name, "ST") < 32 || numbered(name, "FP") < 32 ||
	    numbered(name, "MM") < 32 || name == "FPSW")
		return ISA_X87;
	return name == "MXCSR" || name == "FPCW" || name == "DF" ? ISA_CONTROL
								 : ISA_NONE;
}

static unsigned int root_aarch64(StringRef name, unsigned int encoding)
{
	if (numbered(name, "X") < 31)
		return ISA_GENERAL + numbered(name, "X");
	if (name == "FP")
		return ISA_GENERAL + 29;
	if (name == "LR")
		return ISA_GENERAL + 30;
	if (name == "SP")
		return ISA_GENERAL + 31;
	if (numbered(name, "Z") < 32)
		return ISA_VECTOR + numbered(name, "Z");
	if (numbered(name, "P") < 16)
		return ISA_MASK + numbered(name, "P");
	if (name == "NZCV")
		return ISA_FLAGS;
	return name == "FPCR" || name == "FPSR" || name == "FFR" || name == "ZA"
		       ? ISA_CONTROL
		       : ISA_NONE;
}

/* Parts have their whole's number, tuples those of all that they are made of. */
static void number_registers(struct llvm_isa *l)
{
	const MCRegisterInfo &info = *l->registers;

	l->canonical.resize(info.getNumRegs());
	for (unsigned int r = 1; r < info.getNumRegs(); r++) {
		const unsigned int encoding = info.getEncodingValue(r);
		const unsigned int root =
			l->machine == &x86_64 ? root_x86_64(info.getName(r), encoding)
					      : root_aarch64(info.getName(r), encoding);

		if (root == ISA_NONE)
			continue;
		for (MCPhysReg part : info.subregs_inclusive(r))
			l->canonical[part] = isa_registers{};
		for (MCPhysReg part : info.subregs_inclusive(r))
			add_register(&l->canonical[part], root);
	}
	for (unsigned int r = 1; r < info.getNumRegs(); r++) {
		if (!is_none(l->canonical[r]))
			continue;
		for (MCPhysReg part : info.subregs(r))
			add_registers(&l->canonical[r], l->canonical[part]);
	}
}

static unsigned int opcode_named(const struct llvm_isa *l, const char *name)
{
	for (unsigned int i = 0; name && i < l->instructions->getNumOpcodes(); i++)
		if (l->instructions->getName(i) == name)
			return i;
	return 0;
}

static unsigned int register_named(const struct llvm_isa *l, const char *name)
{
	for (unsigned int i = 1; i < l->registers->getNumRegs(); i++)
		if (!strcmp(l->registers->getName(i), name))
			return i;
	return 0;
}

static void initialise_llvm(void)
{
	static const bool done = [] {
		LLVMInitializeX86TargetInfo();
		LLVMInitializeX86TargetMC();
		LLVMInitializeX86Disassembler();
		LLVMInitializeX86TargetMCA();
		LLVMInitializeAArch64TargetInfo();
		LLVMInitializeAArch64TargetMC();
		LLVMInitializeAArch64Disassembler();
		return true;
	}();

	(void)done;
}

static void make_printer(struct llvm_isa *l)
{
	l->printer.reset(l->target->createMCInstPrinter(l->triple, l->machine->dialect,
							*l->assembler, *l->instructions,
							*l->registers));
	l->printer->setPrintBranchImmAsAddress(true);
	l->printer->setPrintImmHex(true);
}

struct llvm_isa *llvm_open(enum machine machine)
{
	auto l = std::make_unique<llvm_isa>();
	const char *triple;
	std::string error;
	MCTargetOptions options;

	initialise_llvm();
	l->machine = machine == MACHINE_X86_64 ? &x86_64 : &aarch64;
	triple = l->machine->triple;
	l->triple = Triple(triple);
	l->target = TargetRegistry::lookupTarget(triple, error);
	if (!l->target)
		return nullptr;
	l->registers.reset(l->target->createMCRegInfo(triple));
	l->assembler.reset(l->target->createMCAsmInfo(*l->registers, triple, options));
	l->instructions.reset(l->target->createMCInstrInfo());
	l->everything.reset(
		l->target->createMCSubtargetInfo(triple, "", l->machine->features));
	l->context =
		std::make_unique<MCContext>(l->triple, l->assembler.get(),
					    l->registers.get(), l->everything.get());
	l->disassembler.reset(
		l->target->createMCDisassembler(*l->everything, *l->context));
	l->analysis.reset(l->target->createMCInstrAnalysis(l->instructions.get()));
	make_printer(l.get());
	number_registers(l.get());
	l->call = opcode_named(l.get(), l->machine->call);
	l->call_register = opcode_named(l.get(), l->machine->call_register);
	l->call_memory = opcode_named(l.get(), l->machine->call_memory);
	l->ret = opcode_named(l.get(), l->machine->ret);
	l->link = register_named(l.get(), l->machine->link);
	return l.release();
}

void llvm_close(struct llvm_isa *l)
{
	delete l;
}

static bool disassemble(struct llvm_isa *l, const uint8_t *code, size_t size,
			uint64_t address, MCInst *inst, uint64_t *length)
{
	return l->disassembler->getInstruction(*inst, *length,
					       ArrayRef<uint8_t>(code, size), address,
					       nulls()) == MCDisassembler::Success;
}

static uint32_t kind_of(const MCInstrDesc &desc)
{
	uint32_t kind = 0;

	if (desc.mayLoad())
		kind |= INSN_LOAD;
	if (desc.mayStore())
		kind |= INSN_STORE;
	if (desc.isCall())
		kind |= INSN_CALL;
	else if (desc.isReturn())
		kind |= INSN_RETURN;
	else if (desc.isBranch() || desc.isIndirectBranch())
		kind |= INSN_JUMP;
	if (desc.isConditionalBranch())
		kind |= INSN_COND;
	if (desc.isMoveReg() || desc.isMoveImmediate())
		kind |= INSN_MOVE;
	return kind;
}

static void find_registers(const struct llvm_isa *l, const MCInst &inst,
			   const MCInstrDesc &desc, struct insn *out)
{
	for (unsigned int i = 0; i < inst.getNumOperands(); i++) {
		const MCOperand &op = inst.getOperand(i);

		if (op.isReg())
			add_registers(i < desc.getNumDefs() ? &out->writes
							    : &out->reads,
				      l->canonical[op.getReg()]);
	}
	for (MCPhysReg r : desc.implicit_defs())
		add_registers(&out->writes, l->canonical[r]);
	for (MCPhysReg r : desc.implicit_uses())
		add_registers(&out->reads, l->canonical[r]);
}

static uint8_t register_of(const struct llvm_isa *l, const MCOperand &op)
{
	return op.isReg() ? first_register(l->canonical[op.getReg()])
			  : unsigned(ISA_NONE);
}

/*
 * Five operands in a row are base, scale, index, displacement, segment; fewer, a
 * base. lea's five are not marked, for it accesses nothing.
 */
static void find_memory(const struct llvm_isa *l, const MCInst &inst,
			const MCInstrDesc &desc, struct insn *out)
{
	unsigned int first = 0, nr = 0;

	while (first < desc.getNumOperands() &&
	       desc.operands()[first].OperandType != MCOI::OPERAND_MEMORY)
		first++;
	while (first + nr < desc.getNumOperands() &&
	       desc.operands()[first + nr].OperandType == MCOI::OPERAND_MEMORY)
		nr++;
	if (!nr && inst.getNumOperands() == 6 &&
	    l->instructions->getName(inst.getOpcode()).starts_with("LEA")) {
		first = 1;
		nr = 5;
	}
	if (!nr || inst.getNumOperands() < first + nr)
		return;
	out->memory.base = register_of(l, inst.getOperand(first));
	if (nr < 5)
		return;
	out->memory.scale = inst.getOperand(first + 1).getImm();
	out->memory.index = register_of(l, inst.getOperand(first + 2));
	if (inst.getOperand(first + 3).isImm())
		out->memory.displacement = inst.getOperand(first + 3).getImm();
	if (out->memory.base == ISA_PC)
		out->memory.displacement += out->address + out->size;
	if (out->memory.index == ISA_NONE)
		out->memory.scale = 0;
}

bool llvm_decode(struct llvm_isa *l, const uint8_t *code, size_t size, uint64_t address,
		 struct insn *out)
{
	uint64_t length, target;
	MCInst inst;

	if (!disassemble(l, code, size, address, &inst, &length))
		return false;
	const MCInstrDesc &desc = l->instructions->get(inst.getOpcode());

	*out = insn{};
	out->address = address;
	out->code = code;
	out->size = length;
	out->opcode = inst.getOpcode();
	out->kind = kind_of(desc);
	find_registers(l, inst, desc, out);
	if (l->machine == &x86_64)
		find_memory(l, inst, desc, out);
	if (out->kind & (INSN_JUMP | INSN_CALL)) {
		if (l->analysis->evaluateBranch(inst, address, length, target))
			out->target = target;
		else
			out->kind |= INSN_INDIRECT;
	}
	return true;
}

void llvm_print(struct llvm_isa *l, const uint8_t *code, size_t size, uint64_t address,
		char *out, size_t out_size)
{
	SmallString<256> text;
	raw_svector_ostream stream(text);
	uint64_t length;
	MCInst inst;

	if (disassemble(l, code, size, address, &inst, &length)) {
		/* x86's printer counts jumps from the address that it is given. */
		if (l->machine == &x86_64)
			address += length;
		l->printer->printInst(&inst, address, "", *l->everything, stream);
	}
	snprintf(out, out_size, "%s", text.c_str());
}

const char *llvm_opcode_name(const struct llvm_isa *l, unsigned int opcode)
{
	return l->instructions->getName(opcode).data();
}

unsigned int llvm_nr_opcodes(const struct llvm_isa *l)
{
	return l->instructions->getNumOpcodes();
}

int llvm_operands(struct llvm_isa *l, const uint8_t *code, size_t size,
		  uint64_t address, struct llvm_operand *out, int max)
{
	uint64_t length;
	MCInst inst;
	int nr;

	if (!disassemble(l, code, size, address, &inst, &length))
		return 0;
	nr = inst.getNumOperands();
	for (int i = 0; i < nr && i < max; i++) {
		const MCOperand &op = inst.getOperand(i);

		out[i] = llvm_operand{ op.isReg(), register_of(l, op),
				       op.isImm() ? op.getImm() : 0 };
	}
	return nr;
}

int llvm_set_cpu(struct llvm_isa *l, const char *name)
{
	const char *triple = l->machine->triple;
	Model m;

	m.sti.reset(l->target->createMCSubtargetInfo(triple, "", ""));
	if (!m.sti->isCPUStringValid(name))
		return -EINVAL;
	m.sti.reset(l->target->createMCSubtargetInfo(triple, name, ""));
	if (!m.sti->getSchedModel().hasInstrSchedModel())
		return -EINVAL;
	m.instruments.reset(
		l->target->createInstrumentManager(*m.sti, *l->instructions));
	if (!m.instruments)
		m.instruments =
			std::make_unique<mca::InstrumentManager>(*m.sti,
								 *l->instructions);
	m.post.reset(l->target->createInstrPostProcess(*m.sti, *l->instructions));
	if (!m.post)
		m.post = std::make_unique<mca::InstrPostProcess>(*m.sti,
								 *l->instructions);
	m.builder =
		std::make_unique<mca::InstrBuilder>(*m.sti, *l->instructions,
						    *l->registers, l->analysis.get(),
						    *m.instruments, 1);
	m.unit_mask.resize(m.sti->getSchedModel().getNumProcResourceKinds());
	mca::computeProcResourceMasks(m.sti->getSchedModel(), m.unit_mask);
	l->model = std::move(m);
	return 0;
}

unsigned int llvm_nr_units(const struct llvm_isa *l)
{
	return l->model.unit_mask.size();
}

const char *llvm_unit(const struct llvm_isa *l, unsigned int i)
{
	return l->model.sti->getSchedModel().getProcResource(i)->Name;
}

/* The name of the first unit in mask, in the order of LLVM's model. */
static const char *unit_name(const Model &m, uint64_t mask)
{
	const MCSchedModel &sched = m.sti->getSchedModel();

	for (unsigned int i = 1; i < m.unit_mask.size(); i++)
		if (m.unit_mask[i] & mask)
			return sched.getProcResource(i)->Name;
	return nullptr;
}

namespace
{

/* Writes down what happens to each execution. */
class Recorder final : public mca::HWEventListener
{
	const struct llvm_isa &l;
	struct llvm_times *times;
	const std::vector<int> &number; /* of instructions that are modelled */
	const int nr;                   /* of all */
	unsigned int cycle = 0, nr_retired = 0;

	int execution(unsigned int index) const
	{
		return index / number.size() * nr + number[index % number.size()];
	}

	void find_producer(struct llvm_times *t, const mca::Instruction &inst) const
	{
		unsigned int latest = t->dispatched;

		for (const mca::ReadState &read : inst.getUses()) {
			const mca::CriticalDependency &d = read.getCriticalRegDep();
			const int from = d.Cycles ? execution(d.IID) : -1;

			if (from < 0 || times[from].issued + d.Cycles <= latest)
				continue;
			latest = times[from].issued + d.Cycles;
			t->producer = from;
			t->reg = first_register(l.canonical[d.RegID]);
		}
	}

      public:
	Recorder(const struct llvm_isa &l, struct llvm_times *times,
		 const std::vector<int> &number, int nr)
		: l(l), times(times), number(number), nr(nr)
	{
	}

	/* In the order of the program: the number of the next one, too. */
	unsigned int retired() const
	{
		return nr_retired;
	}

	void onCycleEnd() override
	{
		cycle++;
	}

	void onEvent(const mca::HWInstructionEvent &e) override
	{
		struct llvm_times *t = &times[execution(e.IR.getSourceIndex())];
		const mca::Instruction &inst = *e.IR.getInstruction();

		switch (e.Type) {
		case mca::HWInstructionEvent::Dispatched:
			/* Wide ones report this in several cycles. Eliminated ones
			 * report nothing more until they retire.
			 */
			if (!t->dispatched)
				t->dispatched = cycle;
			t->ready = t->issued = t->executed = cycle;
			break;
		case mca::HWInstructionEvent::Ready:
			t->ready = cycle;
			break;
		case mca::HWInstructionEvent::Issued:
			t->issued = cycle;
			if (t->ready > t->dispatched)
				find_producer(t, inst);
			if (t->issued > t->ready)
				t->wanted = unit_name(l.model,
						      inst.getCriticalResourceMask());
			break;
		case mca::HWInstructionEvent::Executed:
			t->executed = cycle;
			break;
		case mca::HWInstructionEvent::Retired:
			t->retired = cycle;
			nr_retired++;
			break;
		}
	}
};

/* Ends a pipeline in which nothing retires any more. */
class Watch final : public mca::Stage
{
	const Recorder &recorder;
	unsigned int retired = 0, cycles = 0;

      public:
	explicit Watch(const Recorder &recorder) : recorder(recorder)
	{
	}

	bool hasWorkToComplete() const override
	{
		return false;
	}

	Error execute(mca::InstRef &inst) override
	{
		return Error::success();
	}

	Error cycleEnd() override
	{
		if (recorder.retired() != retired)
			cycles = 0;
		retired = recorder.retired();
		return ++cycles < PATIENCE ? Error::success()
					   : errorCodeToError(std::make_error_code(
						     std::errc::timed_out));
	}
};

} // namespace

/*
 * LLVM's models know no calls and returns, and the builder says so on stderr. On
 * x86-64 they are pushes and pops whose jump is predicted; on AArch64 a call
 * computes the link register.
 */
static void replace_call(const struct llvm_isa *l, const MCInstrDesc &desc,
			 MCInst *inst)
{
	const bool x86 = l->machine == &x86_64;
	MCInst other;

	if (desc.isReturn()) {
		other.setOpcode(l->ret);
		other.addOperand(MCOperand::createReg(l->link));
	} else if (inst->getNumOperands() >= 5) {
		other.setOpcode(l->call_memory);
		for (unsigned int i = 0; i < 5; i++)
			other.addOperand(inst->getOperand(i));
	} else if (inst->getNumOperands() && inst->getOperand(0).isReg()) {
		other.setOpcode(l->call_register);
		if (!x86)
			other.addOperand(MCOperand::createReg(l->link));
		other.addOperand(inst->getOperand(0));
		if (!x86) {
			other.addOperand(MCOperand::createImm(0));
			other.addOperand(MCOperand::createImm(0));
		}
	} else {
		other.setOpcode(l->call);
		if (!x86)
			other.addOperand(MCOperand::createReg(l->link));
		other.addOperand(MCOperand::createImm(0));
	}
	*inst = other;
}

static std::unique_ptr<mca::Instruction> build(struct llvm_isa *l,
					       const struct insn *insn)
{
	const SmallVector<mca::Instrument *> none;
	const unsigned int skip = insn->nr_prefixes;
	uint64_t length;
	MCInst inst;

	if (insn->kind & INSN_BAD ||
	    !disassemble(l, insn->code + skip, insn->size - skip, insn->address + skip,
			 &inst, &length))
		return nullptr;
	const MCInstrDesc &desc = l->instructions->get(inst.getOpcode());

	if (desc.isCall() || desc.isReturn())
		replace_call(l, desc, &inst);
	auto built = l->model.builder->createInstruction(inst, none);

	if (!built) {
		consumeError(built.takeError());
		return nullptr;
	}
	l->model.post->postProcessInstruction(*built, inst);
	return std::move(*built);
}

/* Whether it comes to its end. */
static bool run_pipeline(struct llvm_isa *l,
			 ArrayRef<std::unique_ptr<mca::Instruction>> code,
			 int iterations, Recorder *recorder)
{
	const MCSubtargetInfo &sti = *l->model.sti;
	mca::CircularSourceMgr source(code, iterations);
	mca::Context context(*l->registers, sti);
	mca::CustomBehaviour behaviour(sti, source, *l->instructions);
	const mca::PipelineOptions options(0, 0, 0, 0, 0, 0, true);
	auto pipeline =
		sti.getSchedModel().isOutOfOrder()
			? context.createDefaultPipeline(options, source, behaviour)
			: context.createInOrderPipeline(options, source, behaviour);

	pipeline->appendStage(std::make_unique<Watch>(*recorder));
	pipeline->addEventListener(recorder);
	auto cycles = pipeline->run();

	if (cycles)
		return true;
	consumeError(cycles.takeError());
	return false;
}

/* Those that are modelled, and their numbers. */
static std::vector<std::unique_ptr<mca::Instruction>>
build_all(struct llvm_isa *l, const struct insn *const *insn, int nr,
	  const std::vector<bool> &stuck, struct llvm_model *model,
	  std::vector<int> *number)
{
	std::vector<std::unique_ptr<mca::Instruction>> code;

	if (l->model.remembered > MAX_REMEMBERED) {
		l->model.builder->clear();
		l->model.remembered = 0;
	}
	l->model.remembered += nr;
	for (int i = 0; i < nr; i++) {
		auto built = stuck[i] ? nullptr : build(l, insn[i]);

		model[i] = {};
		if (!built)
			continue;
		model[i].modelled = true;
		model[i].latency = built->getDesc().MaxLatency;
		model[i].uops = built->getDesc().NumMicroOps;
		number->push_back(i);
		code.push_back(std::move(built));
	}
	return code;
}

/*
 * In some of LLVM's models instructions such as xsaves wait for ever for what they
 * want: then the others are executed without the one that is next to retire.
 */
void llvm_simulate(struct llvm_isa *l, const struct insn *const *insn, int nr,
		   int iterations, struct llvm_model *model, struct llvm_times *times)
{
	std::vector<bool> stuck(nr);

	for (;;) {
		std::vector<int> number;
		auto code = build_all(l, insn, nr, stuck, model, &number);

		for (int i = 0; i < nr * iterations; i++) {
			times[i] = {};
			times[i].producer = -1;
		}
		if (code.empty())
			return;
		Recorder recorder(*l, times, number, nr);

		if (run_pipeline(l, code, iterations, &recorder))
			return;
		stuck[number[recorder.retired() % number.size()]] = true;
	}
}
